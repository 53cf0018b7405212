import type { ReactNode } from 'react';
import type { StatusWire, UpstreamStatusWire } from '../../../../src/server/console-api/wire/status.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { formatBytes, formatDuration } from '../../ui/format.js';
import { Link } from '../../ui/router.js';
import { Time } from '../../ui/time.js';
import type { Setup } from './setup-data.js';
import { strings } from './strings.js';

const UPSTREAM_TONES: Record<UpstreamStatusWire['state'], Tone> = {
  ok: 'ok',
  failing: 'danger',
  unknown: 'plain',
};

const MCP_TONES: Readonly<Record<string, Tone>> = {
  connected: 'ok',
  failed: 'danger',
  'needs-auth': 'warn',
};

/** More names than these are only counted. */
const SHOWN_MODELS = 24;

export function Connected({ gateway, models }: Setup) {
  const text = useText(strings).connected;
  const admin = useIdentity().can('admin');
  const { tools, store, approvals } = gateway;
  return (
    <dl className="grid gap-px overflow-hidden rounded-lg border border-line bg-line text-sm sm:grid-cols-2">
      <Fact label={text.address}>
        <span className="font-mono">{location.origin}</span>
      </Fact>
      <Fact label={text.version}>
        {gateway.version}
        <span className="text-muted">
          {' · '}
          {text.since} <Time at={gateway.started_at} />
        </span>
      </Fact>
      <Fact label={text.models} wide>
        {models.length === 0 ? text.noModels : <Models names={models.map(({ name }) => name)} />}
      </Fact>
      {/* Administrators have the whole list above. */}
      {!admin && (
        <Fact label={text.upstreams} wide>
          <ul className="flex flex-col gap-1.5">
            {gateway.upstreams.map((upstream) => (
              <UpstreamLine key={upstream.name} upstream={upstream} />
            ))}
          </ul>
        </Fact>
      )}
      <Fact label={text.tools}>
        {text.toolCount(tools.enabled, tools.total - tools.enabled)}
        {' · '}
        <Link to="#/tools" className="text-accent underline underline-offset-2">
          {text.manage}
        </Link>
      </Fact>
      <Fact label={text.mcp}>
        {gateway.mcp.total === 0 ? (
          <span className="text-muted">{text.noMcp}</span>
        ) : (
          <ul className="flex flex-wrap gap-1.5">
            {Object.entries(gateway.mcp.states).map(([state, count]) => (
              <li key={state}>
                <Badge tone={MCP_TONES[state] ?? 'plain'}>
                  {count} {text.mcpStates[state] ?? state}
                </Badge>
              </li>
            ))}
          </ul>
        )}
      </Fact>
      <Fact label={text.sandbox}>
        <SandboxFact sandbox={gateway.sandbox} />
      </Fact>
      <Fact label={text.approvals}>
        <code className="font-mono text-xs">mode: {approvals.mode}</code>
        {' · '}
        <code className="font-mono text-xs">unattended: {approvals.unattended}</code>
        <span className="block text-muted">{text.timeout(formatDuration(approvals.timeout_s * 1000))}</span>
      </Fact>
      <Fact label={text.store} wide>
        {store.kind} · {formatBytes(store.size_bytes)}
        {store.location !== null && (
          <span className="block font-mono text-xs break-all text-muted">{store.location}</span>
        )}
      </Fact>
    </dl>
  );
}

function UpstreamLine({ upstream }: { upstream: UpstreamStatusWire }) {
  const text = useText(strings).connected;
  const demo = upstream.dialect === 'demo';
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <span className="font-medium">{upstream.name}</span>
      <span className="text-muted">{upstream.dialect}</span>
      <span className="min-w-0 break-all text-muted">{demo ? text.demo : upstream.host}</span>
      {!demo && !upstream.has_key && <Badge>{text.noCredential}</Badge>}
      {!demo && <Badge tone={UPSTREAM_TONES[upstream.state]}>{text.upstreamStates[upstream.state]}</Badge>}
      {upstream.state === 'failing' && upstream.last_failure !== null && (
        <span className="text-danger">
          {upstream.last_failure.code} · <Time at={upstream.last_failure.at} relative />
        </span>
      )}
    </li>
  );
}

function SandboxFact({ sandbox }: { sandbox: StatusWire['sandbox'] }) {
  const text = useText(strings).connected;
  return (
    <>
      <Badge tone={sandbox.active ? 'ok' : 'warn'}>{sandbox.active ? text.sandboxOn : text.sandboxOff}</Badge>{' '}
      <span className="text-muted">{sandbox.detail}</span>
      {!sandbox.active && sandbox.advice !== '' && <span className="block text-muted">{sandbox.advice}</span>}
    </>
  );
}

function Models({ names }: { names: readonly string[] }) {
  const text = useText(strings).connected;
  const more = names.length - SHOWN_MODELS;
  return (
    <ul className="flex flex-wrap gap-1.5" data-models="">
      {names.slice(0, SHOWN_MODELS).map((name) => (
        <li key={name} className="max-w-full rounded bg-raised px-1.5 py-0.5 font-mono text-xs break-all">
          {name}
        </li>
      ))}
      {more > 0 && <li className="text-muted">{text.modelsMore(more)}</li>}
    </ul>
  );
}

function Fact({ label, wide = false, children }: { label: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={`bg-surface px-4 py-2.5 ${wide ? 'sm:col-span-2' : ''}`}>
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="mt-0.5 min-w-0">{children}</dd>
    </div>
  );
}
