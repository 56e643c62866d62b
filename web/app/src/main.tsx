// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import "../app.css";
import { App } from "./app";
import { applyTheme } from "./state/theme";

applyTheme();
render(<App />, document.getElementById("app")!);
