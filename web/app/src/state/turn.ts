// SPDX-License-Identifier: Apache-2.0
// Counts the times that a page refreshed: `refresh` seconds apart, and only what ends now.
import { useEffect, useState } from "preact/hooks";
import type { Address } from "./address";

const presses = new EventTarget();
export const refreshNow = () => presses.dispatchEvent(new Event("press"));

/** Zoomed or hidden pages do not move on by themselves. */
export function useTurn({ params }: Address): number {
  const [turn, setTurn] = useState(0);
  const seconds = Number(params.get("refresh") ?? "0");
  const to = params.get("to") ?? "";
  const isStill = seconds < 5 || (to !== "" && to !== "now") || params.has("z") || params.has("now");
  useEffect(() => {
    const next = () => setTurn((last) => last + 1);
    presses.addEventListener("press", next);
    const timer = isStill ? 0 : window.setInterval(() => document.visibilityState === "visible" && next(), seconds * 1000);
    return () => {
      presses.removeEventListener("press", next);
      clearInterval(timer);
    };
  }, [isStill, seconds]);
  return turn;
}
