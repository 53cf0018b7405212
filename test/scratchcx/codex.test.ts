import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync, rmSync } from 'node:fs';
import { it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { startUpstream, sse } from '../support/scripted-upstream.js';
import { anthropicStream, chatStream } from '../support/wire.js';
const CODEX='/tmp/clients/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';
for (const d of ['anthropic-messages','openai-chat'] as const)
it('codex '+d, async () => {
  const make = d === 'anthropic-messages' ? anthropicStream : chatStream;
  const up = await startUpstream([
    sse(make({ parts: [{type:'thinking', text:['I think ','hard'], signature:'c2lnbmF0dXJl'},{type:'text',text:['I run ','two']},{type:'call',id:'toolu_1',name:'exec_command',arguments:'{"cmd":"echo one > one.txt; cat one.txt"}'},{type:'call',id:'toolu_2',name:'exec_command',arguments:'{"cmd":"exit 3"}'},{type:'call',id:'toolu_3',name:'multi_agent_v1__close_agent',arguments:'{"target":"nobody"}'}]})),
    sse(make({ parts: [{type:'text',text:['All ','done']}]})),
  ]);
  const gateway = await startTestGateway({ logLevel: 'info', config: { upstreams: { s: up.config(d) }, models: {'*': {upstream:'s', model:'m'}} } });
  rmSync('/root/cxhome2', { recursive: true, force: true });
  mkdirSync('/root/cxhome2', { recursive: true });
  writeFileSync('/root/cxhome2/config.toml', `model = "gpt-5"\nmodel_provider = "gw"\nmodel_reasoning_effort="high"\n[model_providers.gw]\nname = "gw"\nbase_url = "${gateway.url}/v1"\nwire_api = "responses"\n`);
  const out = await new Promise<any>((res) => {
    const c = execFile(CODEX, ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Go'],
      { cwd: '/root/cxwork', env: { ...process.env, HOME: '/root/cxhome2', CODEX_HOME: '/root/cxhome2' }, timeout: 60000 },
      (e, so, se) => res({ e, so, se }));
    c.stdin?.end();
  });
  console.log(out.so, out.se);
  const first = up.requests[0]!.json as any;
  console.log(JSON.stringify({...first, system: undefined, messages: undefined, tools: first.tools.map((t: any)=>t.name ?? t.function?.name)}, null, 0));
  const last = up.requests.at(-1)!.json as any;
  console.log(up.requests.length, JSON.stringify(last.messages.slice(-4), null, 1));
}, 90000);
