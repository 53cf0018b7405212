import { useMemo } from 'react';
import type { RuleBehaviourWire, RuleWire } from '../../../../src/server/console-api/wire/approvals.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { CheckIcon, CloseIcon, ShieldIcon, UserIcon } from '../../ui/icons.js';
import { Link } from '../../ui/router.js';
import { Time } from '../../ui/time.js';
import { VisibleText } from '../../ui/visible-text.js';
import { ShortText } from '../shared/short-text.js';
import { BEHAVIOUR_TONES } from './rule-types.js';
import { strings } from './strings.js';

const ICONS: Record<RuleBehaviourWire, typeof CheckIcon> = {
  allow: CheckIcon,
  ask: UserIcon,
  deny: CloseIcon,
};

export function BehaviourBadge({ behaviour }: { behaviour: RuleBehaviourWire }) {
  const text = useText(strings);
  const Icon = ICONS[behaviour];
  return (
    <Badge tone={BEHAVIOUR_TONES[behaviour]} icon={<Icon size={12} />} title={text.behaviourHints[behaviour]}>
      {text.behaviours[behaviour]}
    </Badge>
  );
}

const RULE_LENGTH = 500;

export function RuleText({ rule }: { rule: string }) {
  const shown = rule.length > RULE_LENGTH ? `${rule.slice(0, RULE_LENGTH)}…` : rule;
  return (
    <code className="font-mono text-xs break-all">
      <VisibleText text={shown} />
    </code>
  );
}

/** Rules of the configuration: nothing can be done with them here. */
export function ConfiguredRules({ rules }: { rules: readonly RuleWire[] }) {
  const text = useText(strings);
  const columns = useMemo<readonly Column<RuleWire>[]>(
    () => [
      { id: 'rule', label: text.rule, render: ({ rule }) => <RuleText rule={rule} /> },
      {
        id: 'behaviour',
        label: text.behaviour,
        className: 'w-40',
        render: ({ behaviour }) => <BehaviourBadge behaviour={behaviour} />,
      },
    ],
    [text],
  );
  return (
    <DataTable
      label={text.configured}
      columns={columns}
      rows={rules}
      rowKey={({ behaviour, rule }) => `${behaviour} ${rule}`}
      empty={<p className="text-sm text-muted">{text.noneConfigured}</p>}
    />
  );
}

interface MadeRulesProps {
  rules: readonly RuleWire[];
  filtered: boolean;
  onRevoke: (rule: RuleWire) => void;
  onClear: () => void;
}

export function MadeRules({ rules, filtered, onRevoke, onClear }: MadeRulesProps) {
  const text = useText(strings);
  const identity = useIdentity();
  const columns = useMemo<readonly Column<RuleWire>[]>(
    () => [
      { id: 'rule', label: text.rule, render: ({ rule }) => <RuleText rule={rule} /> },
      {
        id: 'behaviour',
        label: text.behaviour,
        render: ({ behaviour }) => <BehaviourBadge behaviour={behaviour} />,
      },
      {
        id: 'scope',
        label: text.scope,
        interactive: true,
        className: 'max-w-72',
        render: (rule) => <ScopeCell rule={rule} />,
      },
      {
        id: 'who',
        label: text.who,
        className: 'max-w-36',
        render: ({ created_by }) => <ShortText text={created_by ?? '–'} />,
      },
      {
        id: 'when',
        label: text.when,
        render: ({ created_at }) => (created_at === undefined ? '–' : <Time at={created_at} relative />),
      },
      {
        id: 'actions',
        label: text.actions,
        hideLabel: true,
        interactive: true,
        align: 'end',
        render: (rule) => {
          const beyond = rule.scope === 'project' || rule.scope === 'everywhere';
          const may = identity.can('approve') && (!beyond || identity.can('admin'));
          return (
            <Button
              size="small"
              disabled={!may}
              title={may ? undefined : text.adminNeeded}
              aria-label={text.revokeOf(rule.rule.slice(0, 100))}
              onClick={() => onRevoke(rule)}
            >
              {text.revoke}
            </Button>
          );
        },
      },
    ],
    [text, identity, onRevoke],
  );
  return (
    <DataTable
      label={text.made}
      columns={columns}
      rows={rules}
      rowKey={({ id, rule }) => id ?? rule}
      empty={
        filtered ? (
          <EmptyState title={text.noneTitle} action={<Button onClick={onClear}>{text.clear}</Button>} />
        ) : (
          <EmptyState title={text.emptyTitle} text={text.emptyText} icon={<ShieldIcon size={22} />} />
        )
      }
    />
  );
}

function ScopeCell({ rule }: { rule: RuleWire }) {
  const text = useText(strings);
  const scope = rule.scope ?? (rule.source === 'configuration' ? 'everywhere' : rule.source);
  return (
    <span className="flex min-w-0 flex-col">
      <span>{text.scopes[scope]}</span>
      {rule.session !== undefined && (
        <Link
          to={`#/chat/${encodeURIComponent(rule.session)}`}
          className="truncate font-mono text-xs text-accent hover:underline"
        >
          {rule.session}
        </Link>
      )}
      {rule.project !== undefined && (
        <span className="text-muted">
          <ShortText text={rule.project} mono />
        </span>
      )}
    </span>
  );
}
