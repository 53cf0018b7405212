/**
 * Folders to choose one from for an agent. An administrator sees all of them, everyone else those
 * inside of the folders of agents that they may call. Links are not followed, and hidden folders
 * are not shown.
 */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import type { OfferedModel } from '../../engines/model-catalogue.js';
import type { Exchange } from '../http/exchange.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import { isAdmin, isInside, realFolder } from './chat/chosen-folder.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { modesFor } from './session-mode.js';
import type { FoldersWire, ModelWire, SessionModeWire } from './wire/sessions.js';

/** What the console can talk to: names, what upstreams list for a pattern, and the patterns. */
export const listConsoleModels: ConsoleApiHandler = async (exchange, { dispatcher, models, permissions }) => {
  const listed = await exchange.untilAborted(dispatcher.models());
  const modes = modesFor(permissions.mode, exchange.principal);
  const data = models
    .offered(exchange.principal, listed)
    .map((model): ModelWire => ({ ...toWire(model, modes), configured_mode: permissions.mode }));
  sendJson(exchange, 200, { data }, NO_STORE);
};

function toWire(model: OfferedModel, modes: readonly SessionModeWire[]): Omit<ModelWire, 'configured_mode'> {
  return {
    name: model.name,
    pattern: model.pattern,
    engine: model.engine,
    display_name: model.displayName ?? null,
    upstreams: [...model.upstreams],
    root: model.root ?? null,
    modes: model.engine === 'relay' ? [] : [...modes],
    context_window: model.contextWindow ?? null,
    priced: model.priced,
  };
}

/** More of them are no help in choosing. */
const MOST = 1000;

/** The real path of a folder that this key may name. Throws `not_found`. */
export async function ownFolder(
  asked: string,
  param: string,
  exchange: Exchange,
  context: ConsoleApiContext,
): Promise<string> {
  return folderIn(asked, await rootsOf(exchange, context), exchange, param);
}

export const listFolders: ConsoleApiHandler = async (exchange, context) => {
  const roots = await rootsOf(exchange, context);
  const asked = new URLSearchParams(exchange.query).get('path');
  const path = asked === null || asked === '' ? roots[0] : await folderIn(asked, roots, exchange);
  if (path === undefined) {
    throw new GatewayError(
      'not_found',
      'There is no folder to choose: no model that this key may call is an agent with a folder that exists.',
    );
  }
  const above = dirname(path);
  const answer: FoldersWire = {
    path,
    parent: above !== path && isAllowed(above, roots, exchange) ? above : null,
    folders: await foldersIn(path),
    roots,
  };
  sendJson(exchange, 200, answer, NO_STORE);
};

async function rootsOf({ principal }: Exchange, { models }: ConsoleApiContext): Promise<string[]> {
  const own = models.offered(principal).flatMap(({ root }) => (root === undefined ? [] : [root]));
  const all = isAdmin(principal) ? [...own, homedir()] : own;
  const real = await Promise.all(all.map(realFolder));
  return [...new Set(real.filter((path) => path !== undefined))];
}

async function folderIn(
  asked: string,
  roots: readonly string[],
  exchange: Exchange,
  param = 'path',
): Promise<string> {
  const real = isAbsolute(asked) && !asked.includes('\0') ? await realFolder(asked) : undefined;
  // A folder that is not theirs is as unknown as one that is not there.
  if (real !== undefined && isAllowed(real, roots, exchange)) return real;
  throw new GatewayError(
    'not_found',
    `${param}: there is no such folder, or this key may not choose it. Begin at one of the roots.`,
    { param },
  );
}

function isAllowed(path: string, roots: readonly string[], { principal }: Exchange): boolean {
  return isAdmin(principal) || roots.some((root) => isInside(root, path));
}

async function foldersIn(path: string): Promise<FoldersWire['folders']> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => ({ name, path: join(path, name) }))
      .sort((a, b) => a.name.localeCompare(b.name))
      .slice(0, MOST);
  } catch (error) {
    throw new GatewayError('forbidden', 'path: the gateway may not look into this folder. Choose another.', {
      param: 'path',
      cause: error,
    });
  }
}
