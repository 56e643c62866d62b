// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { takeToken } from "../state/access";

export function SignIn({ reason }: { reason: string }) {
  const [problem, setProblem] = useState("");
  const [text, setText] = useState("");
  return (
    <section class="panel signin" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Who is asking?</h1>
      <p role="alert" data-testid="token-problem">{problem || reason}</p>
      <form autocomplete="off" onSubmit={(event) => {
        event.preventDefault();
        const wrong = takeToken(text);
        setProblem(wrong);
        if (wrong === "") setText("");
      }}>
        <label class="field"><span class="unseen">Token</span>
          <input type="password" aria-label="Token" placeholder="Token" autocomplete="off" spellcheck={false} value={text}
            onInput={(event) => setText(event.currentTarget.value)} /></label>
        <button class="btn primary">Use the token</button>
      </form>
      <p>This server answers with the rights that the cluster gives a token's account. An account's token: <code>kubectl -n NAMESPACE create token SERVICEACCOUNT</code></p>
      <p>401: the cluster does not know the token; it is missing, expired or another cluster's. 403: it knows the account, which may
        not read these profiles; <code>k8s/manifests/profile-readers.yaml</code> has roles to bind.</p>
      <p>The token stays in this tab until it is closed, and is sent to this server alone, in a header.</p>
      {!window.isSecureContext && <p>This connection is not encrypted: who is on its way can read the token. Use <code>kubectl port-forward</code>, or a proxy with TLS.</p>}
    </section>
  );
}
