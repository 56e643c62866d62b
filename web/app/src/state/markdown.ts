// SPDX-License-Identifier: Apache-2.0
/** A text as one cell of a Markdown table: names are other people's, and become no markup. */
export const cell = (text: string) => text.replace(/[|\\`*_<>]/g, "\\$&").replace(/\s+/g, " ");
