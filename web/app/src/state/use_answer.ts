// SPDX-License-Identifier: Apache-2.0
// One question of a panel and where it stands. Answers that are outdated are dropped; the last one stays
// while a new one is on its way.
import { useEffect, useRef, useState } from "preact/hooks";
import { accessChanged } from "./access";
import { ApiError } from "./api";

export interface Answer<Reply> {
  data: Reply | null;
  error: ApiError | null;
  loading: boolean;
  /** It takes longer than people wait without being told. */
  slow: boolean;
  reload(): void;
  cancel(): void;
}

const SLOW_MS = 2000;

/** `key` is what the answer depends on; null asks nothing. `turn` asks again. */
export function useAnswer<Reply>(key: string | null, ask: (signal: AbortSignal) => Promise<Reply>, turn = 0): Answer<Reply> {
  const [state, setState] = useState<{ key: string | null; data: Reply | null; error: ApiError | null; loading: boolean; slow: boolean }>(
    { key, data: null, error: null, loading: key !== null, slow: false });
  const [again, setAgain] = useState(0);
  const running = useRef<AbortController | null>(null);
  useEffect(() => {
    const onAccess = () => setAgain((turn) => turn + 1);
    accessChanged.addEventListener("change", onAccess);
    return () => accessChanged.removeEventListener("change", onAccess);
  }, []);
  useEffect(() => {
    if (key === null) {
      setState({ key, data: null, error: null, loading: false, slow: false });
      return;
    }
    const asked = new AbortController();
    running.current = asked;
    setState((last) => ({ ...last, key, error: null, loading: true, slow: false }));
    const timer = setTimeout(() => setState((last) => ({ ...last, slow: last.loading })), SLOW_MS);
    ask(asked.signal).then(
      (data) => {
        if (!asked.signal.aborted) setState({ key, data, error: null, loading: false, slow: false });
      },
      (problem: unknown) => {
        if (asked.signal.aborted) return;
        const error = problem instanceof ApiError ? problem : new ApiError(0, "internal", String(problem), "");
        setState({ key, data: null, error, loading: false, slow: false });
      });
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [key, again, turn]);
  return {
    ...state,
    // An effect comes a moment after what it depends on: until then the answer is another question's.
    loading: state.loading || state.key !== key,
    reload: () => setAgain((turn) => turn + 1),
    cancel: () => {
      running.current?.abort();
      setState((last) => ({ ...last, loading: false, slow: false,
        error: last.data ? null : new ApiError(0, "canceled", "You stopped it before the answer came.", "") }));
    },
  };
}
