// SPDX-License-Identifier: Apache-2.0
// Questions to the page's own server, and their answers' types (docs/reference/http-api.md).
import type { FlameData } from "../../../flame/model.js";
import { authorization, currentToken, refuse } from "./access";

export type { FlameData };

export interface ContainerRow {
  namespace: string; pod: string; container: string; process?: string; trace_id?: string;
  share_percent: number; cores: number; samples: number; value: number;
  hottest?: { function?: string; module?: string; stack?: string[]; percent: number };
}
export interface FunctionRow {
  function: string; module: string; self: number; self_percent: number; total: number; total_percent: number;
  containers: string[]; more_containers?: number;
}
export interface TopReply<Row> {
  by: string;
  type: string; unit: string; from_ms: number; to_ms: number; observed_seconds: number; total: number; total_rows: number;
  skipped: number; rows: Row[];
}
export interface Series { labels: Record<string, string>; total: number; points: [number, number][] }
export interface SeriesReply {
  type: string; unit: string; from_ms: number; to_ms: number; step_seconds: number; skipped: number; series: Series[];
}
export interface Verdict {
  domain: string; percent: number; rule: string; confidence: number; domains: Record<string, number>;
  hottest?: { function: string; module: string; percent: number };
  evidence: Evidence[];
}
export interface Evidence { what: string; value: number; percent: number; stack?: string[] }
export interface Finding { signature: string; cause: string; confidence: number; percent: number; evidence: Evidence[]; next: string; confirm?: string }
export interface Diagnosis { total: number; samples: number; unit: string; verdict: Verdict; findings: Finding[] }
export interface ProfileRow {
  id?: string; type: string; start_ms: number; seconds: number; namespace: string; pod: string; container: string; node: string;
  workload: string; capture?: string; samples: number; value: number; unit: string; bytes: number;
}
export interface ProfilesReply { rows: ProfileRow[]; total_rows: number }
export interface Heat {
  type: string; by: string; from_ms: number; to_ms: number; begin_ms: number; column_ms: number; row_ms: number; rows: string[];
  columns: number; known: string; cells: number[]; painted?: number[]; samples: number; painted_samples?: number;
  untimed_samples: number; other_rows: number; skipped: number;
}
export interface PolicyRow {
  kind: string; namespace: string; name: string; mode: string; types: string[];
  state: "ok" | "off" | "unknown" | "degraded" | "refused"; reason: string; message: string;
  pods_matched: number; pods_profiled: number; nodes_desired: number; nodes_ready: number; captures: number; last_capture_ms: number;
  failures: { node: string; reason: string; message: string }[];
}
export interface PoliciesReply { policies: PolicyRow[] }
export interface Check { name: string; status: "ok" | "warn" | "fail"; message: string; fix: string }
export interface DoctorReply { status: string; checks: Check[] }

/** An answer that is no 200, or none at all: then the status is 0. */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly path: string) {
    super(message);
  }
}

async function failure(response: Response, path: string): Promise<ApiError> {
  const text = await response.text();
  try {
    const { code, message } = JSON.parse(text) as { code?: string; message?: string };
    return new ApiError(response.status, code ?? "", message ?? text, path);
  } catch {
    return new ApiError(response.status, "", text.trim() || response.statusText, path);
  }
}

/** Lets in so many at a time; the others wait in the order of their coming. */
class Gate {
  private readonly waiting: (() => void)[] = [];
  constructor(private places: number) {}

  async run<Answer>(signal: AbortSignal | null | undefined, work: () => Promise<Answer>): Promise<Answer> {
    if (this.places > 0) this.places--;
    else await new Promise<void>((resume) => this.waiting.push(resume));
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.places++;
    }
  }
}

// A server lets in six questions, of which it answers two at a time, and refuses a seventh: places are left for a second page,
// and for those that this page gave up and the server has not heard of yet.
const questions = new Gate(4);
const lessUrgent = new Gate(2);

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, headers: { ...init.headers, ...authorization() } });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", `The server cannot be reached: ${error instanceof Error ? error.message : String(error)}`, path);
  }
}

/** Waits as a server with too many questions asks to; false: it asks for nothing, or too often. */
async function waitsFor(response: Response, turn: number): Promise<boolean> {
  const seconds = Number(response.headers.get("Retry-After"));
  if (response.status !== 503 || !(seconds > 0) || turn >= MOST_TURNS) return false;
  await response.body?.cancel();
  await new Promise((done) => setTimeout(done, Math.min(seconds, 10) * 1000));
  return true;
}

const MOST_TURNS = 4;

async function sendInTurns(path: string, init: RequestInit): Promise<Response> {
  let response = await send(path, init);
  for (let turn = 0; await waitsFor(response, turn); turn++) {
    init.signal?.throwIfAborted();
    response = await send(path, init);
  }
  return response;
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const sent = currentToken();
  const response = await questions.run(init.signal, () => sendInTurns(path, init));
  if (response.ok) return response;
  const problem = await failure(response, path);
  if (problem.status === 401) refuse(problem.message, sent);
  throw problem;
}

export async function ask<Reply>(path: string, params: URLSearchParams, signal?: AbortSignal): Promise<Reply> {
  const response = await request(`api/v1/${path}?${params}`, signal ? { signal } : {});
  return (await response.json()) as Reply;
}

/** As ask(), one of many that are less urgent than what the page opens on. */
export async function askInTurn<Reply>(path: string, params: URLSearchParams, signal: AbortSignal): Promise<Reply> {
  return lessUrgent.run(signal, () => ask<Reply>(path, params, signal));
}

/**
 * A flame graph of exactly the time that is asked for. Windows of before their samples had times can only
 * be read whole: then that is what comes, and `isCoarse` says so.
 */
export async function askExactly(query: URLSearchParams, signal: AbortSignal): Promise<FlameData & { isCoarse?: boolean }> {
  if (query.get("exact") !== "true") return ask<FlameData>("flame", query, signal);
  try {
    return await ask<FlameData>("flame", query, signal);
  } catch (error) {
    const isUntimed = error instanceof ApiError && error.message.includes("does not say when its samples were taken");
    if (!isUntimed || query.has("offsets") || query.has("base-offsets")) throw error;
    const whole = new URLSearchParams(query);
    whole.delete("exact");
    return { ...(await ask<FlameData>("flame", whole, signal)), isCoarse: true };
  }
}
