/** The state that tools keep for one client: opened with the first call, and anew where the client moves to another folder. */
import type { OpenToolState, ToolRuntime } from '../../tools/runtime/runtime.js';
import { realTarget } from '../../workspace/real-path.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import type { VirtualWorkspace } from './mcp-scope.js';

/** Of approvals and rules; another prefix than conversations have. */
export const STATE_PREFIX = 'mcp_';

interface HolderOptions {
  id: string;
  principal: string;
  place: VirtualWorkspace;
  runtime: ToolRuntime;
  home: string;
}

export class ToolStateHolder {
  readonly id: string;
  readonly #options: HolderOptions;
  #root: string | undefined;
  #state: Promise<OpenToolState> | undefined;

  constructor(options: HolderOptions) {
    this.id = `${STATE_PREFIX}${options.id}`;
    this.#options = options;
  }

  /** Without a root in the workspace of the operator's choice. Another root closes it and opens it there. */
  async at(root: string | undefined): Promise<OpenToolState> {
    const { place } = this.#options;
    const wanted = root ?? place.root;
    if (this.#state === undefined || this.#root !== wanted) {
      const before = this.#state;
      this.#root = wanted;
      const opening = (async () => {
        await end(before);
        return this.#open(root);
      })();
      this.#state = opening;
      opening.catch(() => {
        if (this.#state === opening) this.#state = undefined;
      });
    }
    return this.#state;
  }

  close(): Promise<void> {
    const state = this.#state;
    this.#state = undefined;
    return end(state);
  }

  #open(root: string | undefined): Promise<OpenToolState> {
    const { principal, place, runtime, home } = this.#options;
    return runtime.openToolState({
      id: this.id,
      principal,
      workspace: root === undefined ? openWorkspace(place.root, home) : elsewhere(root, home),
    });
  }
}

/** It may lie on another machine: then there is nothing here to open, and its name is all that counts. */
function elsewhere(root: string, home: string): Workspace {
  return { root: realTarget(root), home: realTarget(home) };
}

async function end(state: Promise<OpenToolState> | undefined): Promise<void> {
  const opened = await state?.catch(() => undefined);
  await opened?.close();
}
