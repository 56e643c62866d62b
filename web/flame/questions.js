// SPDX-License-Identifier: Apache-2.0
// @ts-check
// In a server: what is asked of its API. The address bar holds the whole question: type, q, from,
// to, and s, what is searched for.

const PICKED_LABELS = ["namespace", "workload", "pod", "container"];
const FIRST_BARS = 8192;
const MOST_BARS = 1 << 20;

/**
 * The labels of `{a="b",c="d"}`; null when there is more to the selector than that.
 * @param {string} selector
 * @returns {Map<string, string> | null}
 */
function parseSelector(selector) {
  const text = selector.trim().replace(/^\{|\}$/g, "");
  /** @type {Map<string, string>} */
  const labels = new Map();
  if (text.trim() === "") return labels;
  const part = /\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*(,|$)/y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match || labels.has(match[1])) return null;
    try {
      labels.set(match[1], match[2].startsWith("`") ? match[2].slice(1, -1) : JSON.parse(match[2]));
    } catch {
      return null;
    }
  }
  return labels;
}

/** @param {Map<string, string>} labels */
function formatSelector(labels) {
  const parts = Array.from(labels, ([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length > 0 ? `{${parts.join(",")}}` : "";
}

const FILE_NAME = /filename="([^"]+)"/;

/** What an answer that is no 200 says. @param {Response} response */
async function reasonOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).message || text;
  } catch {
    return text || response.statusText;
  }
}

class Questions {
  /** @param {GraphPanel} panel */
  constructor(panel) {
    this.panel = panel;
    this.form = byId("ask", HTMLFormElement);
    this.type = byId("type", HTMLSelectElement);
    this.window = byId("window", HTMLSelectElement);
    this.custom = byId("custom", HTMLSpanElement);
    this.from = byId("from", HTMLInputElement);
    this.to = byId("to", HTMLInputElement);
    this.selector = byId("selector", HTMLInputElement);
    this.more = byId("more", HTMLButtonElement);
    this.pickers = PICKED_LABELS.map((label) => byId(label, HTMLSelectElement));
    this.bars = FIRST_BARS;
    /** @type {AbortController | null} */
    this.running = null;
    this.access = new Access(() => this.load());
  }

  start() {
    this.form.hidden = false;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.type.addEventListener("change", () => this.ask());
    this.window.addEventListener("change", () => {
      this.custom.hidden = this.window.value !== "custom";
      if (this.custom.hidden) this.ask();
      else this.from.focus();
    });
    byId("download", HTMLAnchorElement).addEventListener("click", (event) => {
      if (this.access.token === "") return;  // the browser's own download sends no header
      event.preventDefault();
      this.download(byId("download", HTMLAnchorElement).href);
    });
    for (const picker of this.pickers) picker.addEventListener("change", () => this.pick(picker));
    this.more.addEventListener("click", () => {
      this.bars = Math.min(this.bars * 8, MOST_BARS);
      this.load();
    });
    this.panel.onSearch = (text) => {
      const url = new URL(location.href);
      url.searchParams.delete("find");
      if (text === "") url.searchParams.delete("s");
      else url.searchParams.set("s", text);
      history.replaceState(null, "", url);
    };
    window.addEventListener("popstate", () => this.readAddress());
    this.readAddress();
  }

  /** Fills the form from the address and asks. */
  readAddress() {
    const params = new URL(location.href).searchParams;
    const to = params.get("to") || "";
    const from = params.get("from") || (to === "" ? "now-15m" : "");  // the server counts back from `to`
    const preset = to === "" || to === "now" ? /^now-(15m|1h|6h|24h)$/.exec(from) : null;
    this.window.value = preset ? preset[1] : "custom";
    this.custom.hidden = preset !== null;
    this.from.value = preset ? "" : from;
    this.to.value = preset ? "" : to;
    this.selector.value = params.get("q") || "";
    // `find` is a text as it stands, for links of programs that cannot make a regular expression of it.
    const find = params.get("find");
    this.panel.search.value = find === null ? params.get("s") || "" : find.replace(/[\\^$*+?.()|[\]{}]/g, "\\$&");
    this.setOptions(this.type, [params.get("type") || "cpu"], params.get("type") || "cpu");
    this.bars = FIRST_BARS;
    this.load();
  }

  /** The parameters of the API that the form stands for. */
  question() {
    const params = new URLSearchParams();
    params.set("type", this.type.value);
    if (this.selector.value.trim() !== "") params.set("q", this.selector.value.trim());
    if (this.window.value !== "custom") {
      params.set("from", `now-${this.window.value}`);
    } else {
      if (this.from.value.trim() !== "") params.set("from", this.from.value.trim());
      if (this.to.value.trim() !== "") params.set("to", this.to.value.trim());
    }
    return params;
  }

  /** A new question: into the address, and asked. */
  ask() {
    const url = new URL(location.href);
    url.search = this.question().toString();
    if (this.panel.search.value !== "") url.searchParams.set("s", this.panel.search.value);
    history.pushState(null, "", url);
    this.bars = FIRST_BARS;
    this.load();
  }

  /** A choice of a label replaces its matcher, and drops those below it. @param {HTMLSelectElement} picker */
  pick(picker) {
    const labels = parseSelector(this.selector.value) || new Map();
    const at = this.pickers.indexOf(picker);
    for (const below of PICKED_LABELS.slice(at)) labels.delete(below);
    if (picker.value !== "") labels.set(PICKED_LABELS[at], picker.value);
    this.selector.value = formatSelector(labels);
    this.ask();
  }

  async load() {
    if (this.running) this.running.abort();
    const running = new AbortController();
    this.running = running;
    const question = this.question();
    byId("download", HTMLAnchorElement).href = `api/v1/profile?${question}`;
    this.panel.result.setAttribute("aria-busy", "true");
    showMessage("");
    try {
      await Promise.all([this.loadGraph(question, running.signal), this.loadChoices(question, running.signal)]);
    } catch (error) {
      if (running.signal.aborted) return;  // a newer question is on its way
      this.panel.clear();
      this.tellAway(error);
    }
  }

  /** @param {URLSearchParams} question @param {AbortSignal} signal */
  async loadGraph(question, signal) {
    const params = new URLSearchParams(question);
    params.set("max-nodes", String(this.bars));
    const response = await this.access.fetch(`api/v1/flame?${params}`, signal);
    if (!response.ok) {
      const reason = (await reasonOf(response)).trim();
      if (signal.aborted) return;
      this.panel.clear();
      this.tell(response.status, reason);
      return;
    }
    /** @type {FlameData} */
    const data = await response.json();
    if (signal.aborted) return;
    this.more.hidden = data.cut_nodes === 0 || this.bars >= MOST_BARS;
    this.panel.show(data);
  }

  /** @param {number} status @param {string} reason */
  tell(status, reason) {
    if (status === 401) {
      this.access.refused(reason);
      return;
    }
    const what = status === 404 ? "No data" : `The server answers ${status}`;
    const advice = status === 403
      ? "\nChoose what this token's account may read, have it bound to a role of k8s/manifests/profile-readers.yaml, or use another token."
      : "";
    showMessage(`${what}: ${reason}${advice}`);
  }

  /** @param {string} address */
  async download(address) {
    try {
      const response = await this.access.fetch(address);
      if (!response.ok) {
        this.tell(response.status, (await reasonOf(response)).trim());
        return;
      }
      const name = FILE_NAME.exec(response.headers.get("Content-Disposition") || "");
      const link = document.createElement("a");
      link.download = name ? name[1] : "profile.pb.gz";
      link.href = URL.createObjectURL(await response.blob());
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (error) {
      this.tellAway(error);
    }
  }

  /** @param {unknown} error */
  tellAway(error) {
    showMessage(`The server cannot be reached: ${error instanceof Error ? error.message : error}`);
  }

  /** What can be chosen in this window. @param {URLSearchParams} question @param {AbortSignal} signal */
  async loadChoices(question, signal) {
    const range = new URLSearchParams();
    for (const name of ["from", "to"]) {
      const value = question.get(name);
      if (value !== null) range.set(name, value);
    }
    const ask = async (/** @type {string} */ path, /** @type {URLSearchParams} */ params) => {
      const response = await this.access.fetch(`api/v1/${path}?${params}`, signal);
      if (response.ok) return response.json();
      // An answer that is not read to its end keeps one of the browser's few connections.
      await response.body?.cancel();
      return null;
    };
    const labels = parseSelector(this.selector.value);
    const lists = PICKED_LABELS.map((label, at) => {
      const params = new URLSearchParams(range);
      params.set("name", label);
      params.set("type", this.type.value);
      // A list is of what the choices above it leave.
      const above = new Map(PICKED_LABELS.slice(0, at).filter((name) => labels?.has(name))
        .map((name) => [name, labels?.get(name) || ""]));
      if (above.size > 0) params.set("q", formatSelector(above));
      return ask("labels", params);
    });
    const [types, ...values] = await Promise.all([ask("types", range), ...lists]);
    if (signal.aborted) return;
    if (types) {
      const names = types.types.map((/** @type {{name: string}} */ type) => type.name);
      this.setOptions(this.type, names, this.type.value);
    }
    this.pickers.forEach((picker, at) => {
      const found = values[at] ? values[at].values : [];
      this.setOptions(picker, ["", ...found], labels?.get(PICKED_LABELS[at]) || "");
      picker.disabled = labels === null;
      picker.title = labels === null ? "The selector says more than these lists can" : "";
    });
  }

  /** @param {HTMLSelectElement} select @param {string[]} values @param {string} chosen */
  setOptions(select, values, chosen) {
    const all = values.includes(chosen) ? values : [...values, chosen];
    select.replaceChildren(...all.map((value) => new Option(value === "" ? "all" : value, value)));
    select.value = chosen;
  }
}

start();
