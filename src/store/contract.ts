/**
 * What every implementation of the store has to pass. Its test file calls these two with a place
 * of its own; adding an implementation adds no test here.
 */
import { describe } from 'vitest';
import { answersContract } from './contract/answers.js';
import { approvalsContract } from './contract/approvals.js';
import { auditContract } from './contract/audit.js';
import { callsContract } from './contract/calls.js';
import { historyContract } from './contract/history.js';
import { leasesContract } from './contract/leases.js';
import { type Place, useBench } from './contract/place.js';
import { pruneContract } from './contract/prune.js';
import { quirksContract } from './contract/quirks.js';
import { racesContract } from './contract/races.js';
import { redactionContract } from './contract/redaction.js';
import { rulesContract } from './contract/rules.js';
import { runsContract } from './contract/runs.js';
import { searchContract } from './contract/search.js';
import { sessionsContract } from './contract/sessions.js';
import { signInsContract } from './contract/sign-ins.js';
import { tracesContract } from './contract/traces.js';
import { transcriptsContract } from './contract/transcripts.js';
import { usageContract } from './contract/usage.js';

export type { ContractOptions, Place } from './contract/place.js';

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
