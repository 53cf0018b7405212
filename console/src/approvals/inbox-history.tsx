/** What was decided lately: who, when, why, by which rule. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { get } from '../data/api.js';
import { useIdentity } from '../data/identity.js';
import { useConsole } from '../data/store.js';
import { gatewayTitle } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { ErrorNote } from '../ui/error-note.js';
import { Section } from '../ui/page.js';
import { Link } from '../ui/router.js';
import { Spinner } from '../ui/spinner.js';
import { Time } from '../ui/time.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { decidedText, STATE_TONE } from './decided-note.js';
import { inboxStrings } from './inbox-strings.js';
import { strings } from './strings.js';

interface Loaded {
  rows: readonly ApprovalWire[];
  next: string | null;
}

const PAGE = 30;

export function InboxHistory() {
  const language = useLanguage();
  const text = useText(inboxStrings);
  const words = useText(strings);
  const { name } = useIdentity();
  const [loaded, setLoaded] = useState<Loaded>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const decided = useConsole((state) => decidedCount(state.approvals));

  const load = useCallback(async (cursor: string | null) => {
    setBusy(true);
    try {
      const query = new URLSearchParams({ state: 'all', limit: String(PAGE) });
      if (cursor !== null) query.set('cursor', cursor);
      const page = await get<{ data: ApprovalWire[]; next: string | null }>(`/api/approvals?${query}`);
      setLoaded((before) => ({
        rows: cursor === null || before === undefined ? page.data : [...before.rows, ...page.data],
        next: page.next,
      }));
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  }, []);

  useEffect(() => {
    if (decided >= 0) void load(null);
  }, [load, decided]);

  const columns = useMemo<Column<ApprovalWire>[]>(
    () => [
      {
        id: 'what',
        label: text.what,
        render: (row) => (
          <span className="block max-w-md">
            <span className="font-medium">{makeVisible(row.tool)}</span>{' '}
            <span className="text-muted wrap-anywhere">
              {makeVisible(gatewayTitle(row.describe.title, language))}
            </span>
          </span>
        ),
      },
      {
        id: 'outcome',
        label: text.outcome,
        render: (row) => (
          <span className="flex flex-col items-start gap-0.5">
            <Badge tone={STATE_TONE[row.state]}>{words.state[row.state]}</Badge>
            {row.decision !== null && (
              <span className="text-xs text-muted">{decidedText(row, name, words)}</span>
            )}
          </span>
        ),
      },
      {
        id: 'why',
        label: text.why,
        render: (row) => (
          <span className="block max-w-xs text-xs wrap-anywhere">
            <VisibleText text={row.decision?.rule ?? row.decision?.reason ?? '–'} />
          </span>
        ),
      },
      {
        id: 'when',
        label: text.when,
        render: (row) => (
          <span className="text-xs text-muted">
            <Time at={row.decision?.at ?? row.expires_at ?? row.created_at} />
          </span>
        ),
      },
      {
        id: 'session',
        label: text.session,
        interactive: true,
        render: (row) => (
          <Link
            to={`#/chat/${encodeURIComponent(row.session)}`}
            className="text-xs text-accent underline underline-offset-2"
          >
            {text.open}
          </Link>
        ),
      },
    ],
    [text, language, words, name],
  );
  const rows = useMemo(() => loaded?.rows.filter(({ state }) => state !== 'pending') ?? [], [loaded]);
  return (
    <Section title={text.history}>
      {problem !== undefined && (
        <ErrorNote
          title={text.historyFailed}
          message={problem}
          action={
            <Button size="small" onClick={() => void load(null)}>
              {text.retry}
            </Button>
          }
        />
      )}
      {loaded === undefined && problem === undefined && <Spinner label={text.loading} show />}
      {loaded !== undefined && (
        <DataTable
          label={text.history}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          empty={<p className="text-sm text-muted">{text.historyEmpty}</p>}
        />
      )}
      {loaded !== undefined && loaded.next !== null && (
        <div className="mt-2">
          <Button busy={busy} onClick={() => void load(loaded.next)}>
            {text.more}
          </Button>
        </div>
      )}
    </Section>
  );
}

function decidedCount(approvals: ReadonlyMap<string, ApprovalWire>): number {
  let count = 0;
  for (const { state } of approvals.values()) if (state !== 'pending') count += 1;
  return count;
}
