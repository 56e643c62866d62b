// SPDX-License-Identifier: Apache-2.0
// A file that somebody has: the server reads it in memory and keeps nothing of it.
import { useState } from "preact/hooks";
import { formatBytes } from "../../../flame/format.js";
import { GraphPanel } from "../parts/graph_panel";
import { Facts } from "../parts/facts";
import { ApiError, ask, request, type FlameData } from "../state/api";
import { useAnswer } from "../state/use_answer";
import { ErrorPanel, Skeleton } from "../ui/states";
import { Icon } from "../ui/icon";

interface Opened { names: string[]; files: File[] }

async function read({ files }: Opened, most: number): Promise<FlameData> {
  for (const file of files) {
    if (file.size > most) throw new ApiError(413, "too_large", `${file.name} has ${formatBytes(file.size)}: at most ${formatBytes(most)} can be opened here; firetower view opens larger ones.`, "api/v1/file");
  }
  // The older one is the base, and goes first.
  const params = new URLSearchParams({ name: files[files.length - 1]!.name });
  const form = files.length === 1 ? files[0]! : new Blob(files);
  if (files.length === 2) {
    params.set("base-name", files[0]!.name);
    params.set("base-bytes", String(files[0]!.size));
  }
  const response = await request(`api/v1/file?${params}`, { method: "POST", body: form, headers: { "Content-Type": "application/octet-stream" } });
  return (await response.json()) as FlameData;
}

export function FilePage({ params }: { params: URLSearchParams }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [data, setData] = useState<FlameData | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [over, setOver] = useState(false);
  const limit = useAnswer("file", (signal) => ask<{ max_bytes: number }>("file", new URLSearchParams(), signal));
  const most = limit.data?.max_bytes ?? 0;
  const open = (files: File[]) => {
    if (files.length === 0) return;
    const next = { files: files.slice(0, 2), names: files.slice(0, 2).map((file) => file.name) };
    setOpened(next);
    setData(null);
    setError(null);
    read(next, most).then(setData, (problem: unknown) =>
      setError(problem instanceof ApiError ? problem : new ApiError(0, "internal", String(problem), "api/v1/file")));
  };
  const input = (
    <label class="btn primary">Choose a file
      <input type="file" class="unseen" multiple aria-label="Choose a file" onChange={(event) => open(Array.from(event.currentTarget.files ?? []))} /></label>
  );
  return (
    <>
      <section class="panel" aria-label="Open file">
        <header><h1>Open a file</h1><span class="faint">{opened ? opened.names.join(" and ") : ""}</span><span class="grow" />{opened && input}</header>
        {!opened && (
          <div class={`drop${over ? " over" : ""}`} data-testid="drop"
            onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
            onDrop={(event) => { event.preventDefault(); setOver(false); open(Array.from(event.dataTransfer?.files ?? [])); }}>
            <div>
              <p><Icon name="file" /> Drop a profile here: pprof, folded stacks, speedscope, or the text of <code>perf script</code>; two files for their difference, the older one first.</p>
              {limit.data && most === 0
                ? <p role="alert">An agent takes no files, because its memory is the node's. Open it at the hub, or with <code>firetower view FILE</code>.</p>
                : <><p class="faint">Up to {formatBytes(most)}. This server reads it in memory and keeps nothing of it.</p><p>{input}</p></>}
            </div>
          </div>
        )}
      </section>
      {opened && (
        <section class="panel result" aria-label="Profile" data-testid="result" aria-busy={!data && !error}>
          {error ? <ErrorPanel error={error} onRetry={() => open(opened.files)} /> : data ? (
            <><div class="bar">{data.base_total === undefined ? <Facts data={data} params={params} /> : <span>A: {opened.names[0]} · B: {opened.names[1]}</span>}</div>
              <GraphPanel data={data} params={params} flame={new URLSearchParams()} fixed /></>
          ) : <Skeleton />}
        </section>
      )}
    </>
  );
}
