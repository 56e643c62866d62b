// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { AgentsPage } from "./pages/agents";
import { DiffPage } from "./pages/diff";
import { ExplorePage } from "./pages/explore";
import { FilePage } from "./pages/file";
import { HeatPage } from "./pages/heat";
import { HotspotsPage } from "./pages/hotspots";
import { PoliciesPage } from "./pages/policies";
import { ContextBar } from "./shell/context_bar";
import { HelpDialog } from "./shell/help";
import { SignIn } from "./shell/sign_in";
import { TopBar } from "./shell/top_bar";
import { accessChanged, refusalText } from "./state/access";
import { useAddress, type Page } from "./state/address";
import { useTurn } from "./state/turn";

const TITLES: Record<Page, string> = {
  "": "Hotspots", explore: "Explore", diff: "Diff", heat: "Heat map", file: "Open file", agents: "Agents", policies: "Policies",
};

function useRefusal(): string {
  const [refusal, setRefusal] = useState(refusalText());
  useEffect(() => {
    const update = () => setRefusal(refusalText());
    accessChanged.addEventListener("change", update);
    return () => accessChanged.removeEventListener("change", update);
  }, []);
  return refusal;
}

export function App() {
  const address = useAddress();
  const [help, setHelp] = useState(false);
  const turn = useTurn(address);
  const refusal = useRefusal();
  const { page, params } = address;
  useEffect(() => {
    document.title = `${TITLES[page]} · Firetower`;
  }, [page]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") setHelp(true);
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>("[data-search]");
        if (!search) return;
        event.preventDefault();
        search.focus();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const props = { params, turn };
  return (
    <>
      <TopBar page={page} params={params} onHelp={() => setHelp(true)} />
      {!["file", "agents", "policies"].includes(page) && <ContextBar page={page} params={params} />}
      <main>
        {refusal !== "" ? <SignIn reason={refusal} />
          : page === "" ? <HotspotsPage {...props} />
          : page === "explore" ? <ExplorePage {...props} />
          : page === "diff" ? <DiffPage {...props} />
          : page === "heat" ? <HeatPage {...props} />
          : page === "file" ? <FilePage params={params} />
          : page === "agents" ? <AgentsPage {...props} />
          : <PoliciesPage {...props} />}
      </main>
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </>
  );
}
