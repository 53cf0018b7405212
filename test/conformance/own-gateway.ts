/** This gateway and the scripted upstream, set up for the cases. */
import { loadConfigText } from '../../src/config/load.js';
import { createDispatcher } from '../../src/gateway/create-dispatcher.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';
import { ScriptedUpstream } from '../support/upstream-server.js';
import type { Case } from './case-schema.js';
import { Runner } from './run.js';
import { ScriptDesk } from './script-desk.js';
import { configFor, renamedModel, UPSTREAM_KEY } from './setups.js';

export interface OwnGateway {
  runner: Runner;
  close(): Promise<void>;
}

const CLIENT_KEY = 'client-key-of-the-suite';

/** What fails is not tried again: a case says itself what the upstream answers the second time. */
const NO_RETRIES = 0;

export async function startOwnGateway(cases: readonly Case[]): Promise<OwnGateway> {
  const desk = new ScriptDesk();
  const upstream = new ScriptedUpstream(desk.reply);
  await upstream.listen(0);
  const folder = await tempFolder('toolgate-conformance');
  const config = JSON.stringify(configFor(cases, upstream.url));
  const loaded = await loadConfigText(config, { baseDir: folder.path, env: {} });
  const dispatcher = createDispatcher({ config: loaded.config, retryBudgetMs: NO_RETRIES });
  const gateway = await startTestGateway({ config, dispatcher, folder: folder.path });
  const target = {
    baseUrl: gateway.url,
    apiKey: CLIENT_KEY,
    uniqueModels: true,
    lossesHeader: 'x-toolgate-losses',
    upstreamKey: UPSTREAM_KEY,
    renamed: renamedModel,
  };
  return {
    runner: new Runner(target, desk),
    async close() {
      await gateway.close();
      await dispatcher.close();
      await upstream.close();
      await folder.remove();
    },
  };
}
