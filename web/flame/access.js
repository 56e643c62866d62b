// SPDX-License-Identifier: Apache-2.0
// @ts-check
// In a server that answers only whom the cluster knows: the token, asked for when the first answer
// is 401. It is in this page and in the tab's own storage, in no address and no cookie, and goes to
// the page's own server alone (the policy lets the page connect nowhere else).

const KEPT_AS = "firetower-token";

class Access {
  /** @param {() => void} onToken asks again, with it */
  constructor(onToken) {
    this.form = byId("sign-in", HTMLFormElement);
    this.input = byId("token", HTMLInputElement);
    this.problem = byId("token-problem", HTMLParagraphElement);
    this.forgetting = byId("forget", HTMLButtonElement);
    this.onToken = onToken;
    this.token = this.kept();
    this.forgetting.hidden = this.token === "";
    byId("unencrypted", HTMLParagraphElement).hidden = window.isSecureContext;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.take(this.input.value);
    });
    this.forgetting.addEventListener("click", () => {
      this.keep("");
      this.onToken();
    });
  }

  // A browser may be told to keep nothing for a page: then it is asked for after each reload.
  kept() {
    try {
      return sessionStorage.getItem(KEPT_AS) || "";
    } catch {
      return "";
    }
  }

  /** @param {string} token "" forgets it */
  keep(token) {
    this.token = token;
    this.forgetting.hidden = token === "";
    try {
      if (token === "") sessionStorage.removeItem(KEPT_AS);
      else sessionStorage.setItem(KEPT_AS, token);
    } catch {
      // Then this page alone has it.
    }
  }

  /** @param {string} text */
  take(text) {
    const token = text.trim().replace(/^Bearer\s+/i, "");
    // What a header cannot hold is no token either.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      this.explain("That is no token: it is one line without spaces.");
      return;
    }
    this.input.value = "";
    this.form.hidden = true;
    this.keep(token);
    this.onToken();
  }

  /** @param {string} problem */
  explain(problem) {
    this.problem.textContent = problem;
    if (!this.form.hidden) return;
    this.form.hidden = false;
    this.input.focus();
  }

  /** The server knows nobody by the token that it was sent, if any. @param {string} reason */
  refused(reason) {
    const had = this.token !== "";
    this.keep("");
    this.explain(`${had ? "This token is refused" : "A token is needed"} (401): ${reason}`);
  }

  /** @param {string} address @param {AbortSignal} [signal] */
  fetch(address, signal) {
    /** @type {Record<string, string>} */
    const headers = this.token === "" ? {} : { Authorization: `Bearer ${this.token}` };
    return fetch(address, { signal, headers });
  }
}
