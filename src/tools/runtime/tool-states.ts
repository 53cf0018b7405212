/** What tools keep for one conversation. Nothing in it is shared with another, but with sub-agents. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createFileState } from '../../workspace/file-state.js';
import { createJobTable, createTodoList } from './context.js';
import type { OpenToolState, ToolStateOptions } from './runtime.js';
import { createScratchFolders } from './scratch-folders.js';
import { readSnapshot, takeSnapshot } from './tool-state-snapshot.js';

interface ToolStates {
  /** `onClose` gets the id when the conversation itself ends, not one of its sub-agents. */
  open(options: ToolStateOptions, onClose?: (id: string) => Promise<void>): Promise<OpenToolState>;
  /** Closes every tool state and removes all private folders. */
  close(): Promise<void>;
}

export function createToolStates(stateDir: string): ToolStates {
  const folders = createScratchFolders(join(stateDir, 'scratch'));
  const open = new Set<OpenToolState>();

  const openState: ToolStates['open'] = async (options, onClose) => {
    const { id, principal, user, workspace, agent, parent } = options;
    const restored = options.restore === undefined ? undefined : readSnapshot(options.restore);
    const jobs = parent?.jobs ?? createJobTable();
    let scratch: Promise<string> | undefined;
    let scratchPath: string | undefined;
    let closing: Promise<void> | undefined;

    const close = async (): Promise<void> => {
      open.delete(toolState);
      if (parent !== undefined) return;
      await Promise.all([jobs.close(), onClose?.(id)]);
      const made = await scratch?.catch(() => undefined);
      if (made !== undefined) await folders.remove(made);
    };

    const toolState: OpenToolState = {
      id,
      principal,
      ...(agent === undefined ? {} : { agent }),
      cwd: options.cwd ?? restored?.cwd ?? parent?.cwd ?? workspace.root,
      variables: new Map(restored?.variables ?? []),
      todos: createTodoList(),
      jobs,
      async scratch() {
        if (parent !== undefined) return parent.scratch();
        if (closing !== undefined) throw new Error('the session is closed');
        scratch ??= folders.make();
        scratchPath = await scratch;
        return scratchPath;
      },
      memoryDir: parent?.memoryDir ?? memoryFolder(stateDir, principal, user),
      workspace,
      files: createFileState(),
      ownPaths: () => parent?.ownPaths?.() ?? (scratchPath === undefined ? [] : [scratchPath]),
      snapshot: () => takeSnapshot(toolState),
      close: () => (closing ??= close()),
    };
    if (restored !== undefined) {
      toolState.todos.replace(restored.todos);
      for (const [path, record] of restored.files) toolState.files.set(path, record);
    }
    open.add(toolState);
    return toolState;
  };

  return {
    open: openState,
    async close() {
      await Promise.all([...open].map((toolState) => toolState.close()));
      await folders.close();
    },
  };
}

/**
 * Two principals, and two end users of one, never share a folder, also where file names ignore case
 * or a name holds `..`: the hash makes them distinct, the rest is for people who look.
 */
export function memoryFolder(stateDir: string, principal: string, user?: string): string {
  const whose = user === undefined ? principal : JSON.stringify([principal, user]);
  const hash = createHash('sha256').update(whose).digest('hex').slice(0, 16);
  const word = principal
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 32)
    .replace(/^-|-$/g, '');
  return join(stateDir, 'memory', word === '' ? hash : `${word}-${hash}`);
}
