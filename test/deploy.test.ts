/** The files of deploy/: they parse, agree with each other and with the gateway, and their configurations load. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/config/load.js';
import { ROUTES } from '../src/server/surfaces.js';
import { ROOT } from './support/source-tree.js';

const read = (name: string): string => readFileSync(join(ROOT, 'deploy', name), 'utf8');
const ENV = {
  PUBLIC_HOST: 'toolgate.example.com',
  TOOLGATE_ADMIN_KEY: 'a-key-of-an-admin',
  ANTHROPIC_API_KEY: 'a-key-of-the-upstream',
  PGPASSWORD: 'p',
  PGHOST: 'postgres',
  CLUSTER_SECRET: 'sixteen-characters',
  NODE_NAME: 'toolgate-0',
  NODE_ADDRESS: '10.0.0.3',
};

async function load(text: string, env: Record<string, string> = ENV) {
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-deploy-'));
  try {
    await writeFile(join(folder, 'toolgate.yaml'), text);
    return (await loadConfig({ file: 'toolgate.yaml', cwd: folder, env: { HOME: folder, ...env } })).config;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const seconds = (text: string): number => Number(/^(\d+)s$/.exec(text)?.[1]);

describe('the compose file', () => {
  const compose = parse(read('compose.yaml'), { merge: true });
  const { 'node-a': a, 'node-b': b, proxy } = compose.services;

  it('gives every node all that its configuration asks for, and a name of its own', async () => {
    for (const { environment } of [a, b]) {
      expect(Object.keys(environment).sort()).toEqual(Object.keys(ENV).sort());
    }
    expect(a.environment.NODE_NAME).not.toBe(b.environment.NODE_NAME);
    const config = await load(read('toolgate.yaml'));
    expect(config.cluster).toMatchObject({ node: 'toolgate-0', advertise: 'http://10.0.0.3:3000' });
    expect(seconds(a.stop_grace_period)).toBeGreaterThan(config.server.drain_s);
  });

  it('runs nodes without privileges, and shows the proxy to this machine alone', () => {
    for (const node of [a, b]) {
      expect(node).toMatchObject({ read_only: true, cap_drop: ['ALL'], init: true });
      expect(node.ports).toBeUndefined();
    }
    expect(proxy.ports).toEqual(['127.0.0.1:8080:8080']);
    for (const name of ['node-a', 'node-b']) expect(read('nginx.conf')).toContain(`server ${name}:3000 `);
    expect(read('nginx.conf')).toContain('listen 8080;');
  });
});

describe('the manifests for Kubernetes', () => {
  const documents = parseAllDocuments(read('kubernetes/toolgate.yaml')).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  });
  const of = (kind: string) => documents.find((each) => each.kind === kind);
  const pod = of('StatefulSet').spec.template.spec;
  const [container] = pod.containers;

  it('have nodes, services, a budget for disruptions, and no secret', () => {
    expect(documents.map(({ kind }) => kind).sort()).toEqual(
      ['ConfigMap', 'PodDisruptionBudget', 'Service', 'Service', 'StatefulSet'].sort(),
    );
  });

  it('have a configuration that loads, with what the pod gives it', async () => {
    const config = await load(of('ConfigMap').data['toolgate.yaml']);
    const given = container.env.map(({ name }: { name: string }) => name);
    const secret = ['TOOLGATE_ADMIN_KEY', 'ANTHROPIC_API_KEY', 'PGPASSWORD', 'CLUSTER_SECRET'];
    expect([...given, ...secret].sort()).toEqual(Object.keys(ENV).sort());
    const [, pause] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(config.server.drain_s + Number(pause));
  });

  it('probe routes that the gateway has, and run without privileges', () => {
    const paths = ROUTES.map(({ path }) => path);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(paths).toContain(probe.httpGet.path);
    }
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});

describe('the image', () => {
  const dockerfile = read('Dockerfile');

  it('is built from what the package carries, and starts as nobody special', () => {
    for (const part of ['bin', 'dist', 'console/dist', 'node_modules']) {
      expect(dockerfile).toContain(`COPY --from=build /app/${part} ${part}\n`);
    }
    const stages = dockerfile.split(/^FROM /m);
    expect(stages.at(-1)).toMatch(/^USER node$/m);
    expect(stages.at(-1)).toMatch(/^HEALTHCHECK /m);
  });

  it('gets no sources of tests, no secrets and no history', () => {
    const ignored = read('Dockerfile.dockerignore').split('\n');
    for (const name of ['.git', '**/.env', '**/node_modules', '.toolgate']) expect(ignored).toContain(name);
  });
});

describe('the unit for systemd', () => {
  const unit = read('systemd/toolgate.service');

  it('stops later than a drain ends, reloads with SIGHUP, and forbids nothing that V8 or the sandbox needs', () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(30);
    expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    expect(unit).not.toMatch(/^(?:MemoryDenyWriteExecute|RestrictNamespaces)=/m);
  });
});
