/** This gateway as a node, where the configuration makes it one. */
import { realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { sep } from 'node:path';
import type { Membership } from '../cluster/membership.js';
import type { Peers } from '../cluster/peers.js';
import { resolvePath } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../observability/log.js';
import { isGone, ownerOfThisProcess } from '../sessions/persistence/lease-keeper.js';
import type { SessionPlace } from '../sessions/session-parts.js';
import type { Store } from '../store/store.js';
import { type WorkerRole, workerName } from './worker-role.js';

interface ClusterOptions {
  config: Pick<Config, 'cluster' | 'server'>;
  baseDir: string;
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
  config,
  baseDir,
  store,
  version,
  log,
  worker,
}: ClusterOptions): Promise<OpenCluster | undefined> {
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

interface Self {
  name: string;
  /** Who has the folders of the sessions that run here. */
  place: string;
  address: string;
  secret: string;
  workspaces: readonly string[];
}

export function nodeName({ cluster, server }: ClusterOptions['config']): string {
  return cluster?.node ?? `${hostname()}:${server.port}`;
}

function nodeOf(config: ClusterOptions['config']): Self | undefined {
  const { cluster } = config;
  if (cluster === undefined) return undefined;
  const { advertise, secret, workspaces } = cluster;
  const name = nodeName(config);
  return { name, place: name, address: new URL(advertise).origin, secret, workspaces };
}

function workerOf(
  { cluster }: ClusterOptions['config'],
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
