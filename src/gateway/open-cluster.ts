/** This gateway as a node, where the configuration makes it one. */
import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { sep } from 'node:path';
import type { Membership } from '../cluster/membership.js';
import type { Peers } from '../cluster/peers.js';
import { placedError } from '../config/config-error.js';
import type { LoadedConfig } from '../config/load.js';
import { resolvePath } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import type { Log } from '../observability/log.js';
import { isGone, ownerOfThisProcess } from '../sessions/persistence/lease-keeper.js';
import type { SessionPlace } from '../sessions/session-parts.js';
import type { Store } from '../store/store.js';
import { type WorkerRole, workerName } from './worker-role.js';

interface ClusterFile extends Pick<LoadedConfig, 'baseDir' | 'file' | 'locate'> {
  config: Pick<Config, 'cluster' | 'server'>;
}

interface ClusterOptions {
  loaded: ClusterFile;
  store: Store;
  version: string;
  log: Log;
  /** One of the processes on a port, with the port of its own. */
  worker: { role: WorkerRole; port: number } | undefined;
}

/** The owner of leases and what is heard of the node are the same process. */
interface OpenCluster extends Membership {
  owner: string;
  place: SessionPlace;
  peers: Peers;
}

/** Undefined for a gateway on its own. Rejects with a GatewayError that says why it may not join. */
export async function openCluster({
  loaded,
  store,
  version,
  log,
  worker,
}: ClusterOptions): Promise<OpenCluster | undefined> {
  const { config, baseDir } = loaded;
  const self = worker === undefined ? nodeOf(config) : workerOf(config, worker);
  if (self === undefined || store.nodes === undefined) return undefined;
  const { joinCluster } = await import('../cluster/membership.js');
  const { Peers } = await import('../cluster/peers.js');
  const { name, address, secret } = self;
  const owner = `${ownerOfThisProcess()}/${encodeURIComponent(name)}`;
  const workspaces = await Promise.all(self.workspaces.map((path) => realPath(path, baseDir)));
  const membership = await joinCluster({
    ...{ nodes: store.nodes, name, instance: owner, address },
    ...{ secret, workspaces, version, isGone, log },
  }).catch((error: unknown) => {
    throw inFile(error, loaded);
  });
  const peers = new Peers({ nodes: store.nodes, name, instance: owner, secret, isGone, log });
  const shares = (root: string) => workspaces.some((path) => isWithin(path, root));
  return {
    ...membership,
    owner,
    place: { node: self.place, shares },
    peers,
    leave: async () => {
      await peers.close();
      await membership.leave();
    },
  };
}

/** With the place of the key that is to blame, where one is. */
function inFile(error: unknown, { file, locate }: ClusterFile): unknown {
  if (!(error instanceof GatewayError) || !error.param?.startsWith('cluster.')) return error;
  const { code, param, detail } = error;
  const { message } = placedError(file, [{ path: param.split('.'), message: error.message }], locate);
  return new GatewayError(code, message, { param, ...(detail !== undefined && { detail }) });
}

interface Self {
  name: string;
  /** Who has the folders of the sessions that run here. */
  place: string;
  address: string;
  secret: string;
  workspaces: readonly string[];
}

export function nodeName({ cluster, server }: ClusterFile['config']): string {
  return cluster?.node ?? `${hostname()}:${server.port}`;
}

function nodeOf(config: ClusterFile['config']): Self | undefined {
  const { cluster } = config;
  if (cluster === undefined) return undefined;
  const { advertise, secret, workspaces } = cluster;
  const name = nodeName(config);
  return { name, place: name, address: new URL(advertise).origin, secret, workspaces };
}

function workerOf(
  { cluster }: ClusterFile['config'],
  { role, port }: NonNullable<ClusterOptions['worker']>,
): Self {
  return {
    name: workerName(role),
    place: role.node,
    address: `http://${role.own.advertised}:${port}`,
    secret: role.secret,
    workspaces: cluster?.workspaces ?? [],
  };
}

/** As the folders of sessions are named. One that is not there is shared by nobody. */
function realPath(path: string, baseDir: string): Promise<string> {
  const absolute = resolvePath(path, baseDir);
  return realpath(absolute).catch(() => absolute);
}

const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
