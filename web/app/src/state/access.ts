// SPDX-License-Identifier: Apache-2.0
// The token of one who asks a server that answers only whom the cluster knows. It is in this page and in
// the tab's own storage, in no address and no cookie, and goes to the page's own server alone.

const KEPT_AS = "firetower-token";
export const accessChanged = new EventTarget();

// A browser may be told to keep nothing for a page: then it is asked for after each reload.
let token = "";
try {
  token = sessionStorage.getItem(KEPT_AS) ?? "";
} catch {
  token = "";
}
let refusal = "";

function keep(next: string) {
  token = next;
  try {
    if (next === "") sessionStorage.removeItem(KEPT_AS);
    else sessionStorage.setItem(KEPT_AS, next);
  } catch {
    // Then this page alone has it.
  }
}

export const hasToken = () => token !== "";
/** Why a token is asked for; "" while none is. */
export const refusalText = () => refusal;
export const authorization = (): Record<string, string> => (token === "" ? {} : { Authorization: `Bearer ${token}` });

/** Takes a token as it was pasted. Returns what is wrong with it, or "". */
export function takeToken(text: string): string {
  const next = text.trim().replace(/^Bearer\s+/i, "");
  // A token travels in a header, so it has only characters that one can hold.
  if (!/^[\x21-\x7e]+$/.test(next)) return "That is no token: it is one line without spaces.";
  keep(next);
  refusal = "";
  accessChanged.dispatchEvent(new Event("change"));
  return "";
}

export function forgetToken() {
  keep("");
  accessChanged.dispatchEvent(new Event("change"));
}

/** Asks for another token, though this one is known: it may not read what was asked for. */
export function askForToken(reason: string) {
  refusal = reason;
  accessChanged.dispatchEvent(new Event("change"));
}

export const currentToken = () => token;

/** The server knows nobody by the token that it was sent, if any; several answers may say so. */
export function refuse(reason: string, sent: string) {
  if (sent !== token) return;
  // Panels ask on without a token: what was wrong with the last one stays said until another is given.
  if (token === "" && refusal !== "") return;
  const text = `${token === "" ? "A token is needed" : "This token is refused"} (401): ${reason}`;
  keep("");
  refusal = text;
  accessChanged.dispatchEvent(new Event("change"));
}
