/**
 * What every implementation of the store has to pass. Its test file calls these two with a place
 * of its own; adding an implementation adds no test here.
 */
import { describe } from 'vitest';
import { answersContract } from './store/answers.js';
import { approvalsContract } from './store/approvals.js';
import { auditContract } from './store/audit.js';
import { callsContract } from './store/calls.js';
import { historyContract } from './store/history.js';
import { keysContract } from './store/keys.js';
import { leasesContract } from './store/leases.js';
import { mcpContract } from './store/mcp.js';
import { outboxContract } from './store/outbox.js';
import { type Place, useBench } from './store/place.js';
import { pruneContract } from './store/prune.js';
import { pushContract } from './store/push.js';
import { quirksContract } from './store/quirks.js';
import { racesContract } from './store/races.js';
import { redactionContract } from './store/redaction.js';
import { rulesContract } from './store/rules.js';
import { runsContract } from './store/runs.js';
import { searchContract } from './store/search.js';
import { sessionsContract } from './store/sessions.js';
import { signInsContract } from './store/sign-ins.js';
import { tracesContract } from './store/traces.js';
import { transcriptsContract } from './store/transcripts.js';
import { transferContract } from './store/transfer.js';
import { upstreamsContract } from './store/upstreams.js';
import { usageContract } from './store/usage.js';

export type { ContractOptions, Place } from './store/place.js';

export function storeContract(name: string, makePlace: () => Promise<Place>): void {
  describe(`store contract: ${name}`, () => {
    const bench = useBench(makePlace);
    leasesContract(bench);
    sessionsContract(bench);
    searchContract(bench);
    transcriptsContract(bench);
    historyContract(bench);
    callsContract(bench);
    answersContract(bench);
    approvalsContract(bench);
    rulesContract(bench);
    auditContract(bench);
    tracesContract(bench);
    quirksContract(bench);
    usageContract(bench);
    runsContract(bench);
    signInsContract(bench);
    keysContract(bench);
    mcpContract(bench);
    outboxContract(bench);
    pushContract(bench);
    upstreamsContract(bench);
    transferContract(bench);
    pruneContract(bench);
    redactionContract(bench);
  });
}

/** For places that can be opened twice: several nodes, and again after a stop. */
export function sharedStoreContract(name: string, makePlace: () => Promise<Place>): void {
  describe(`shared store contract: ${name}`, () => {
    racesContract(useBench(makePlace));
  });
}
