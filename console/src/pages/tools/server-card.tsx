import { useState } from 'react';
import { post } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Disclosure } from '../../ui/disclosure.js';
import { ErrorNote } from '../../ui/error-note.js';
import {
  CheckIcon,
  ClockIcon,
  ErrorIcon,
  ExternalIcon,
  KeyIcon,
  RefreshIcon,
  TrashIcon,
} from '../../ui/icons.js';
import { scrollRegion } from '../../ui/scroll-region.js';
import { Spinner } from '../../ui/spinner.js';
import { Time } from '../../ui/time.js';
import { toast } from '../../ui/toast.js';
import { VisibleText } from '../../ui/visible-text.js';
import { ShortText } from '../shared/short-text.js';
import type { McpServerWire } from '../shared/tool-types.js';
import { strings } from './strings.js';

const TONES: Record<McpServerWire['state'], Tone> = {
  connected: 'ok',
  connecting: 'info',
  failed: 'danger',
  'needs-auth': 'warn',
  closed: 'plain',
  disabled: 'plain',
};

const ICONS = {
  connected: CheckIcon,
  connecting: ClockIcon,
  failed: ErrorIcon,
  'needs-auth': KeyIcon,
  closed: ErrorIcon,
  disabled: ErrorIcon,
};

interface ServerCardProps {
  server: McpServerWire;
  onRemove: () => void;
  onChanged: () => void;
}

export function ServerCard({ server, onRemove, onChanged }: ServerCardProps) {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  const Icon = ICONS[server.state] ?? ErrorIcon;
  return (
    <li
      data-server={server.name}
      data-state={server.state}
      className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface px-4 py-3"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="min-w-0 font-semibold">
          <ShortText text={server.name} />
        </h3>
        <Badge tone={TONES[server.state] ?? 'plain'} icon={<Icon size={12} />}>
          {text.states[server.state] ?? server.state}
        </Badge>
        <Badge>{text.types[server.type]}</Badge>
        <span className="text-xs text-muted">{server.persistent ? text.persistent : text.temporary}</span>
        {!server.shared && <span className="text-xs text-muted">· {text.perSession}</span>}
      </div>
      <p className="font-mono text-xs break-all text-muted">
        <VisibleText text={server.target.slice(0, 500)} />
      </p>
      <ServerState server={server} />
      <ProviderTools server={server} />
      {admin && <ServerActions server={server} onRemove={onRemove} onChanged={onChanged} />}
    </li>
  );
}

/** Beyond its word: what is wrong and what to do. */
export function ServerState({ server }: { server: McpServerWire }) {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  return (
    <>
      {server.state === 'connected' && (
        <p className="text-xs text-muted">
          {server.server_info !== null && (
            <>
              <VisibleText text={`${server.server_info.name} ${server.server_info.version}`.slice(0, 200)} />{' '}
              ·{' '}
            </>
          )}
          {server.connected_at !== null && (
            <>
              {text.since} <Time at={server.connected_at} relative />
            </>
          )}
        </p>
      )}
      {server.state === 'connecting' && <Spinner label={text.connectingText} show />}
      {server.state === 'needs-auth' && (
        <p className="text-sm">{admin ? text.needsAuthText : text.needsAuthOthers}</p>
      )}
      {server.problem !== null &&
        (server.state === 'failed' ? (
          <ErrorNote message={server.problem.slice(0, 4000)} />
        ) : (
          <p className="text-sm break-words text-warn">
            <VisibleText text={server.problem.slice(0, 4000)} />
          </p>
        ))}
      {server.retry_at !== null && (
        <p className="text-xs text-muted">
          {text.nextTry} <Time at={server.retry_at} />
        </p>
      )}
    </>
  );
}

function ProviderTools({ server }: { server: McpServerWire }) {
  const text = useText(strings);
  if (server.tools.length === 0) return null;
  return (
    <Disclosure summary={text.toolCount(server.tools.length)}>
      <div
        {...scrollRegion(text.toolsOf(server.name))}
        className="max-h-64 overflow-y-auto pt-1 pl-5 font-mono text-xs"
      >
        <ul>
          {server.tools.map((name) => (
            <li key={name} className="py-0.5 break-all">
              <VisibleText text={name.slice(0, 300)} />
            </li>
          ))}
        </ul>
      </div>
    </Disclosure>
  );
}

function ServerActions({ server, onRemove, onChanged }: ServerCardProps) {
  const text = useText(strings);
  const [busy, setBusy] = useState(false);
  const address = webAddress(server.sign_in_url);
  const reconnect = async () => {
    setBusy(true);
    try {
      const now = await post<McpServerWire>(`/api/mcp/${encodeURIComponent(server.name)}/reconnect`);
      if (now.state === 'connected') toast(text.reconnected(server.name), 'ok');
      else toast(text.notConnected(server.name), 'warn');
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'danger');
    } finally {
      setBusy(false);
      onChanged();
    }
  };
  return (
    <div className="mt-1 flex flex-wrap gap-2">
      {server.state === 'needs-auth' && address !== undefined && (
        <a
          href={address}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={text.signInOf(server.name)}
          className={buttonClasses('primary', 'small')}
        >
          <ExternalIcon size={12} />
          {text.signIn}
        </a>
      )}
      <Button
        size="small"
        busy={busy}
        icon={<RefreshIcon size={12} />}
        aria-label={text.reconnectOf(server.name)}
        onClick={reconnect}
      >
        {text.reconnect}
      </Button>
      <Button
        size="small"
        icon={<TrashIcon size={12} />}
        aria-label={text.removeOf(server.name)}
        onClick={onRemove}
      >
        {text.remove}
      </Button>
    </div>
  );
}

/** An address that a link may lead to: a server says where to sign in. */
function webAddress(url: string | null): string | undefined {
  if (url === null) return undefined;
  try {
    const { protocol } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? url : undefined;
  } catch {
    return undefined;
  }
}
