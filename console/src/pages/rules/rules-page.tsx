/** What agents may do without asking: who added a rule, what it means for a call, and how to revoke it. */
import { useMemo, useState } from 'react';
import type { RuleWire } from '../../../../src/server/console-api/wire/approvals.js';
import { remove } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useConsole } from '../../data/store.js';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Disclosure } from '../../ui/disclosure.js';
import { PlusIcon, ShieldIcon } from '../../ui/icons.js';
import { Page, Section } from '../../ui/page.js';
import { toast } from '../../ui/toast.js';
import { ListState } from '../shared/list-state.js';
import { SearchField } from '../shared/search-field.js';
import { useFetched } from '../shared/use-fetched.js';
import { useQuery } from '../shared/use-query.js';
import { AddRule } from './add-rule.js';
import { BehaviourBadge, ConfiguredRules, MadeRules, RuleText } from './rule-lists.js';
import { matchesRule, NO_DRAFT, type RuleDraft, type RulesAnswer } from './rule-types.js';
import { strings } from './strings.js';
import { TestCall } from './test-call.js';

export function RulesPage() {
  const text = useText(strings);
  const may = useIdentity().can('approve');
  const [query, setQuery] = useQuery();
  const search = query.get('search') ?? '';
  const change = useConsole((state) => state.changes.rules);
  const rules = useFetched<RulesAnswer>('/api/rules', change);
  const [draft, setDraft] = useState<RuleDraft>();
  const [revoking, setRevoking] = useState<RuleWire>();
  const [made, configured] = useMemo(() => {
    const shown = (rules.data?.data ?? []).filter((rule) => matchesRule(rule, search));
    return [shown.filter(({ id }) => id !== null), shown.filter(({ id }) => id === null)];
  }, [rules.data, search]);
  return (
    <Page
      title={text.title}
      intro={may ? text.intro : `${text.intro} ${text.approveNeeded}`}
      actions={
        may && (
          <Button variant="primary" icon={<PlusIcon />} onClick={() => setDraft(NO_DRAFT)}>
            {text.add}
          </Button>
        )
      }
    >
      <ListState
        loading={rules.loading}
        error={rules.error}
        present={rules.data !== undefined}
        onReload={rules.reload}
      >
        {rules.data !== undefined && <Mode mode={rules.data.mode} />}
        <TestCall onSuggestion={({ rule, behaviour }) => setDraft({ rule, behaviour })} />
        <Section
          title={text.made}
          intro={text.madeIntro}
          actions={
            <SearchField label={text.search} value={search} onChange={(next) => setQuery({ search: next })} />
          }
        >
          <MadeRules
            rules={made}
            filtered={search !== ''}
            onRevoke={setRevoking}
            onClear={() => setQuery({ search: undefined })}
          />
        </Section>
        <Section title={text.configured} intro={text.configuredIntro}>
          <ConfiguredRules rules={configured} />
        </Section>
        <div className="mt-6">
          <Help />
        </div>
      </ListState>
      <AddRule draft={draft} onClose={() => setDraft(undefined)} onAdded={rules.reload} />
      <Confirm
        open={revoking !== undefined}
        title={text.revokeTitle}
        text={
          revoking !== undefined && (
            <>
              <p className="mb-2 flex flex-wrap items-center gap-2">
                <BehaviourBadge behaviour={revoking.behaviour} />
                <RuleText rule={revoking.rule} />
              </p>
              <p>{text.revokeText}</p>
            </>
          )
        }
        action={text.revoke}
        onConfirm={async () => {
          if (revoking?.id === undefined || revoking.id === null) return;
          await remove(`/api/rules/${encodeURIComponent(revoking.id)}`);
          toast(text.revoked, 'ok');
          rules.reload();
        }}
        onClose={() => setRevoking(undefined)}
      />
    </Page>
  );
}

function Mode({ mode }: { mode: string }) {
  const text = useText(strings);
  const meanings: Readonly<Record<string, string>> = text.modes;
  return (
    <div className="mb-6 flex items-start gap-3 rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <ShieldIcon size={20} className="mt-0.5 shrink-0 text-accent" />
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{text.mode}</span>
          <Badge tone="info">{mode}</Badge>
          <span>{meanings[mode] ?? ''}</span>
        </p>
        <p className="text-xs text-muted">{text.modeWhere}</p>
      </div>
    </div>
  );
}

function Help() {
  const text = useText(strings);
  return (
    <Disclosure summary={<span className="font-medium">{text.help}</span>}>
      <dl className="mt-2 grid gap-x-4 gap-y-1.5 pl-5 text-sm md:grid-cols-[max-content_minmax(0,1fr)]">
        {text.helpRows.map(([rule, meaning]) => (
          <div key={rule} className="contents">
            <dt>
              <RuleText rule={rule} />
            </dt>
            <dd className="mb-1.5 text-muted md:mb-0">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Disclosure>
  );
}
