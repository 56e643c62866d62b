// SPDX-License-Identifier: Apache-2.0
// The graph of web/flame in a page: what was zoomed to stands above it, and a menu opens at its frames.
import { useEffect, useRef, useState } from "preact/hooks";
import { formatShare } from "../../../flame/format.js";
import { FlameGraph } from "../../../flame/graph.js";
import type { Bar, Model } from "../../../flame/model.js";
import { barOf, hashOf } from "../state/path_hash";
import { themeChanged } from "../state/theme";
import { toast } from "../ui/controls";

export interface FrameMenu { name: string; stack: string[]; x: number; y: number }

export interface FlameProps {
  model: Model;
  label: string;
  search: string;
  colorBy: "module" | "domain";
  rootAtBottom: boolean;
  ofShown: boolean;
  zoom: string;
  /** the graph that `n` and the toolbar's search speak of */
  main?: boolean;
  onZoom(hash: string): void;
  onMenu?(menu: FrameMenu): void;
  onKey?(key: string, name: string): boolean;
  onFound?(found: { value: number; places: number; problem: string }): void;
}

export function Flame(props: FlameProps) {
  const { model, search, colorBy, rootAtBottom, ofShown, zoom } = props;
  const host = useRef<HTMLDivElement>(null);
  const graph = useRef<FlameGraph | null>(null);
  const last = useRef(props);
  last.current = props;
  const [status, setStatus] = useState("");
  const [drawn, setDrawn] = useState(false);
  const [path, setPath] = useState<Bar[]>([]);

  useEffect(() => {
    const made: FlameGraph = new FlameGraph(host.current!, {
      onMove: setStatus,
      onZoom: (bar) => {
        setPath(made.pathTo(bar));
        last.current.onZoom(bar.level === 0 ? "" : hashOf(made.model!, bar));
      },
      onMenu: (bar, { x, y }) => {
        last.current.onMenu?.({ name: made.nameOf(bar), stack: made.pathTo(bar).slice(1).map((one) => made.nameOf(one)), x, y });
      },
      onKey: (key, bar) => last.current.onKey?.(key, made.nameOf(bar)) ?? false,
      onDrawn: () => setDrawn(true),
    });
    graph.current = made;
    if (props.main !== false) Object.assign(window, { __flame: made.view });
    const onTheme = () => made.view.retheme();
    themeChanged.addEventListener("change", onTheme);
    return () => {
      themeChanged.removeEventListener("change", onTheme);
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const made = graph.current!;
    setDrawn(false);
    made.view.colorBy = colorBy;
    made.view.ofShown = ofShown;
    made.view.rootAtBottom = rootAtBottom;
    made.show(model);
    setPath([]);
    last.current.onFound?.(made.search(search));
    if (zoom === "") return;
    const bar = barOf(model, zoom);
    if (bar) {
      made.view.zoomTo(bar);
      made.moveTo(bar);
      setPath(made.pathTo(bar));
    } else {
      toast("What was zoomed to is not in this data");
      last.current.onZoom("");
    }
  }, [model]);
  useEffect(() => {
    last.current.onFound?.(graph.current!.search(search));
  }, [search]);
  useEffect(() => graph.current!.view.setColor(colorBy), [colorBy]);
  useEffect(() => graph.current!.view.setOrientation(rootAtBottom), [rootAtBottom]);
  useEffect(() => {
    graph.current!.view.ofShown = ofShown;
    graph.current!.view.redraw();
  }, [ofShown]);
  useEffect(() => {  // Back, or another control, took the zoom away
    if (zoom === "" && graph.current!.view.zoom.level > 0) {
      graph.current!.view.zoomTo({ level: 0, index: 0 });
      setPath([]);
    }
  }, [zoom]);

  const made = graph.current;
  return (
    <div class="graphbox" data-testid="graphbox" aria-busy={!drawn}>
      <nav class="crumbs" aria-label={`Zoomed into: ${props.label}`}>
        {path.length > 1 && made && crumbsOf(path).map((bar, i, all) => (
          <>
            {i > 0 && <span class="sep" aria-hidden="true">›</span>}
            <button type="button" {...(i === all.length - 1 ? { "aria-current": "true" as const } : {})} onClick={() => made.zoomTo(bar)}>
              {i === 0 ? "all" : made.nameOf(bar).slice(0, 60)}
              {(i === 0 || i === all.length - 1) && <span class="faint">{formatShare(model.levels[bar.level]!.total[bar.index]!, model.whole)}</span>}
            </button>
          </>
        ))}
        <span class="grow" />
        {path.length > 1 && <button type="button" class="faint" onClick={() => made?.reset()}>Reset zoom <span class="key">0</span></button>}
      </nav>
      <div ref={host} aria-label={props.label} data-testid="graph" />
      <div class="status" data-testid="status">{status}</div>
    </div>
  );
}

/** The root, and the last three on the way. */
function crumbsOf(path: Bar[]): Bar[] {
  return path.length <= 4 ? path : [path[0]!, ...path.slice(-3)];
}
