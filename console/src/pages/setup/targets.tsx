/** Where people are asked outside this page, how each target does, and a test message. For administrators. */
import { useCallback, useEffect, useState } from 'react';
import type { TargetWire } from '../../../../src/server/console-api/wire/notify.js';
import { get, post } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ErrorNote } from '../../ui/error-note.js';
import { RefreshIcon } from '../../ui/icons.js';
import { Section } from '../../ui/page.js';
import { Skeleton } from '../../ui/skeleton.js';
import { Time } from '../../ui/time.js';
import { toast } from '../../ui/toast.js';
import { targetStrings } from './target-strings.js';

/** After a test the list is fetched again this often, since no event tells of a delivery. */
const WATCH_MS = 1000;
/** What takes longer is looked for with the button. */
const MOST_LOOKS = 15;

export function Targets() {
  const text = useText(targetStrings);
  const { list, problem, reload, watch } = useTargets();
  return (
    <Section
      title={text.title}
      intro={text.intro}
      actions={
        list !== undefined &&
        list.length > 0 && (
          <Button icon={<RefreshIcon />} onClick={reload}>
            {text.refresh}
          </Button>
        )
      }
    >
      {problem !== undefined && (
        <ErrorNote
          title={text.failed}
          message={problem}
          action={
            <Button size="small" onClick={reload}>
              {text.tryAgain}
            </Button>
          }
        />
      )}
      {list === undefined && problem === undefined && <Skeleton lines={2} />}
      {list?.length === 0 && <EmptyState title={text.none} text={text.noneText} />}
      {list !== undefined && list.length > 0 && (
        <ul
          aria-label={text.list}
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {list.map((target) => (
            <Row key={target.name} target={target} onSent={watch} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Row({ target, onSent }: { target: TargetWire; onSent: () => void }) {
  const text = useText(targetStrings);
  const { name, type, waiting, failed, last_sent_at, failing } = target;
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      await post(`/api/notify/${encodeURIComponent(name)}/test`);
      toast(text.sent(name), 'info');
      onSent();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'danger');
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-medium break-all">{name}</span>
          <span className="text-muted">{text.types[type]}</span>
          {failing !== null ? (
            <Badge tone="danger">{text.failing}</Badge>
          ) : (
            <Badge tone={last_sent_at === null ? 'plain' : 'ok'}>
              {last_sent_at === null ? text.unused : text.ok}
            </Badge>
          )}
        </p>
        <p className="flex flex-wrap gap-x-2 text-muted">
          {last_sent_at !== null && (
            <span>
              {text.lastSent} <Time at={last_sent_at} relative />
            </span>
          )}
          {waiting > 0 && <span>{text.waiting(waiting)}</span>}
          {failed > 0 && <span>{text.givenUp(failed)}</span>}
        </p>
        {failing !== null && (
          <p className="break-words text-danger">{text.attempts(failing.error, failing.attempts)}</p>
        )}
      </div>
      <Button size="small" busy={busy} aria-label={text.testOf(name)} onClick={() => void send()}>
        {text.test}
      </Button>
    </li>
  );
}

function useTargets() {
  const [list, setList] = useState<readonly TargetWire[]>();
  const [problem, setProblem] = useState<string>();
  const [tries, setTries] = useState(0);
  const reload = useCallback(() => setTries((count) => count + 1), []);
  useEffect(() => {
    const gone = new AbortController();
    get<{ data: TargetWire[] }>('/api/notify', gone.signal).then(
      ({ data }) => {
        setList(data);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!gone.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => gone.abort(tries);
  }, [tries]);
  const [looks, setLooks] = useState(0);
  const isUnderWay = list?.some(({ waiting, failing }) => waiting > 0 && failing === null) ?? false;
  useEffect(() => {
    if (looks === 0 || !isUnderWay) return;
    const timer = setTimeout(() => {
      setLooks(looks - 1);
      reload();
    }, WATCH_MS);
    return () => clearTimeout(timer);
  }, [looks, isUnderWay, reload]);
  const watch = () => {
    setLooks(MOST_LOOKS);
    reload();
  };
  return { list, problem, reload, watch };
}
