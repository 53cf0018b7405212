import { useEffect, useState } from 'react';
import type { RulePreview, RulePreviewRequest } from '../../../../src/server/console-api/wire/approvals.js';
import { post } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { formatNumber } from '../../ui/format.js';
import { Spinner } from '../../ui/spinner.js';
import { Time } from '../../ui/time.js';
import { VisibleText } from '../../ui/visible-text.js';
import { strings } from './strings.js';

const SETTLE_MS = 300;

type PreviewState =
  | { state: 'none' }
  | { state: 'loading'; last: RulePreview | undefined }
  | { state: 'ready'; preview: RulePreview }
  | { state: 'refused'; message: string };

/** What a rule would have matched, a moment after it was typed. Undefined: there is nothing to ask yet. */
export function usePreview(request: RulePreviewRequest | undefined): PreviewState {
  const [state, setState] = useState<PreviewState>({ state: 'none' });
  const body = request === undefined ? undefined : JSON.stringify(request);
  useEffect(() => {
    if (body === undefined) {
      setState({ state: 'none' });
      return;
    }
    let over = false;
    setState((before) => ({ state: 'loading', last: before.state === 'ready' ? before.preview : undefined }));
    const timer = setTimeout(() => {
      post<RulePreview>('/api/rules/preview', JSON.parse(body)).then(
        (preview) => !over && setState({ state: 'ready', preview }),
        (error: unknown) =>
          !over &&
          setState({ state: 'refused', message: error instanceof Error ? error.message : String(error) }),
      );
    }, SETTLE_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [body]);
  return state;
}

export function PreviewView({ state }: { state: PreviewState }) {
  const text = useText(strings);
  return (
    <section aria-label={text.preview} className="rounded-md border border-line bg-raised px-3 py-2 text-sm">
      <h3 className="mb-1 text-xs font-semibold text-muted">{text.preview}</h3>
      <div aria-live="polite">
        {state.state === 'none' && <p className="text-muted">{text.previewWaiting}</p>}
        {state.state === 'loading' &&
          (state.last === undefined ? <Spinner label={text.preview} /> : <Matches preview={state.last} />)}
        {state.state === 'refused' && <p className="break-words text-danger">{state.message}</p>}
        {state.state === 'ready' && <Matches preview={state.preview} />}
      </div>
    </section>
  );
}

const WHAT_LENGTH = 200;
const SHOWN_CALLS = 8;

function Matches({ preview }: { preview: RulePreview }) {
  const text = useText(strings);
  const { covers, looked_at: looked, matched, since, calls } = preview;
  const shown = calls.slice(0, SHOWN_CALLS);
  return (
    <>
      {covers !== '' && (
        <p className="break-words">
          {text.previewCovers} <VisibleText text={covers} />.
        </p>
      )}
      {looked === 0 ? (
        <p className="text-muted">{text.previewNoCalls}</p>
      ) : matched === 0 ? (
        <p className="text-muted">{text.previewNone}</p>
      ) : (
        <p>
          <strong>{text.previewMatched(formatNumber(matched), formatNumber(looked))}</strong>
          {since !== null && (
            <span className="text-muted">
              {' '}
              ({text.previewSince} <Time at={since} />)
            </span>
          )}
        </p>
      )}
      {shown.length > 0 && (
        <ul className="mt-1 flex flex-col gap-1 text-xs">
          {shown.map(({ at, session, tool, what, verdict }) => (
            <li key={`${at} ${session} ${tool} ${what}`} className="flex flex-wrap gap-x-2">
              <span className="text-muted">
                <Time at={at} />
              </span>
              <span className="min-w-0 font-mono break-all">
                <VisibleText text={`${tool} ${what}`.slice(0, WHAT_LENGTH)} />
              </span>
              <span className="text-muted">{verdict}</span>
            </li>
          ))}
        </ul>
      )}
      {matched > shown.length && shown.length > 0 && (
        <p className="text-xs text-muted">{text.previewMore(formatNumber(matched - shown.length))}</p>
      )}
    </>
  );
}
