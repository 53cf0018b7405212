import { useMemo } from 'react';
import type { KeyWire } from '../../../../src/server/console-api/wire/keys.js';
import { useText } from '../../text/language.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { Time } from '../../ui/time.js';
import { VisibleText } from '../../ui/visible-text.js';
import { strings } from './strings.js';

const TONES: Record<KeyWire['state'], Tone> = {
  active: 'ok',
  expired: 'warn',
  revoked: 'plain',
  replaced: 'warn',
};

interface KeyListProps {
  keys: readonly KeyWire[];
  onRotate: (key: KeyWire) => void;
  onRevoke: (key: KeyWire) => void;
}

export function KeyList({ keys, onRotate, onRevoke }: KeyListProps) {
  const text = useText(strings);
  const columns = useMemo<readonly Column<KeyWire>[]>(
    () => [
      { id: 'name', label: text.name, render: (key) => <NameCell entry={key} /> },
      { id: 'state', label: text.state, render: (key) => <StateBadge entry={key} /> },
      { id: 'scopes', label: text.scopes, render: ({ scopes }) => scopes.join(', ') },
      {
        id: 'models',
        label: text.models,
        className: 'max-w-60 break-words',
        render: ({ models }) => <VisibleText text={models.join(', ')} />,
      },
      { id: 'limits', label: text.limits, render: (key) => <Limits entry={key} /> },
      {
        id: 'ends',
        label: text.ends,
        render: ({ expires_at }) => (expires_at === null ? text.never : <Time at={expires_at} />),
      },
      {
        id: 'actions',
        label: text.actions,
        hideLabel: true,
        interactive: true,
        render: (key) => <Actions entry={key} onRotate={onRotate} onRevoke={onRevoke} />,
      },
    ],
    [text, onRotate, onRevoke],
  );
  return (
    <DataTable
      label={text.list}
      columns={columns}
      rows={keys}
      rowKey={({ id, name }) => id ?? `file ${name}`}
    />
  );
}

function NameCell({ entry: { name, start, team } }: { entry: KeyWire }) {
  return (
    <>
      <span className="font-medium">{name}</span>
      {team !== null && <span className="ml-1.5 text-xs text-muted">{team}</span>}
      {start !== null && <code className="block font-mono text-xs text-muted">{start}…</code>}
    </>
  );
}

function StateBadge({ entry: { source, state } }: { entry: KeyWire }) {
  const text = useText(strings);
  if (source === 'configuration') return <Badge title={text.inFileHint}>{text.inFile}</Badge>;
  return <Badge tone={TONES[state]}>{text.states[state]}</Badge>;
}

function Limits({ entry: { rpm, tpm, max_streams, max_agents, budget, workspaces } }: { entry: KeyWire }) {
  const text = useText(strings);
  const limits = [
    ...(rpm === null ? [] : [text.rpmOf(rpm)]),
    ...(tpm === null ? [] : [text.tpmOf(tpm)]),
    ...(max_streams === null ? [] : [text.streamsOf(max_streams)]),
    ...(max_agents === null ? [] : [text.agentsOf(max_agents)]),
    ...(budget === null ? [] : [text.budgets[budget.per](budget.usd)]),
    ...(workspaces === null ? [] : [text.foldersOf(workspaces.length)]),
  ];
  return limits.length === 0 ? text.noLimits : limits.join(', ');
}

function Actions({
  entry,
  onRotate,
  onRevoke,
}: { entry: KeyWire } & Pick<KeyListProps, 'onRotate' | 'onRevoke'>) {
  const text = useText(strings);
  if (entry.id === null || entry.state === 'revoked') return null;
  return (
    <div className="flex flex-wrap justify-end gap-2">
      {entry.state === 'active' && (
        <Button size="small" aria-label={text.rotateOf(entry.name)} onClick={() => onRotate(entry)}>
          {text.rotate}
        </Button>
      )}
      <Button
        size="small"
        variant="danger"
        aria-label={text.revokeOf(entry.name)}
        onClick={() => onRevoke(entry)}
      >
        {text.revoke}
      </Button>
    </div>
  );
}
