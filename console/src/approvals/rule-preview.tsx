import { useEffect, useState } from 'react';
import type { RulePreview, RulePreviewRequest } from '../../../src/server/console-api/wire/approvals.js';
import { ApiError, request } from '../data/api.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { CheckIcon, WarnIcon } from '../ui/icons.js';
import { Spinner } from '../ui/spinner.js';
import { Time } from '../ui/time.js';
import { makeVisible } from '../ui/visible.js';
import { strings } from './strings.js';

/** Pause in typing after which the preview is requested. */
const PAUSE_MS = 250;
const SHOWN_CALLS = 8;

interface PreviewState {
  loading: boolean;
  preview: RulePreview | undefined;
  /** The rule itself is wrong. */
  syntax: string | undefined;
  /** There is no preview, for another reason. */
  failure: string | undefined;
}

const NOTHING: PreviewState = { loading: false, preview: undefined, syntax: undefined, failure: undefined };

/** Asked again a moment after the last change. */
export function useRulePreview(wanted: RulePreviewRequest): PreviewState {
  const [state, setState] = useState(NOTHING);
  const key = JSON.stringify(wanted);
  const empty = wanted.rule === '';
  useEffect(() => {
    if (empty) {
      setState(NOTHING);
      return;
    }
    const abort = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    const timer = setTimeout(() => {
      const body: unknown = JSON.parse(key);
      request<RulePreview>('POST', '/api/rules/preview', body, abort.signal).then(
        (preview) => setState({ ...NOTHING, preview }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          const message = error instanceof Error ? error.message : String(error);
          const wrong = error instanceof ApiError && (error.status === 400 || error.status === 422);
          setState({ ...NOTHING, ...(wrong ? { syntax: message } : { failure: message }) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, empty]);
  return state;
}

export function RulePreviewView({ preview: state }: { preview: PreviewState }) {
  const text = useText(strings);
  const { preview, loading, failure } = state;
  if (preview === undefined && !loading && failure === undefined) return null;
  return (
    <section aria-label={text.preview} className="rounded-md border border-line bg-bg px-3 py-2 text-sm">
      <div className="mb-1 flex items-center gap-2">
        <h4 className="text-xs font-semibold text-muted">{text.preview}</h4>
        {loading && <Spinner label={text.previewing} size={12} />}
      </div>
      {failure !== undefined && (
        <p className="text-xs text-muted">
          {text.previewFailed}: {failure}
        </p>
      )}
      {preview !== undefined && <PreviewText preview={preview} />}
    </section>
  );
}

function PreviewText({ preview }: { preview: RulePreview }) {
  const text = useText(strings);
  const more = preview.matched - Math.min(preview.calls.length, SHOWN_CALLS);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {preview.covers !== '' && <p className="wrap-anywhere">{makeVisible(preview.covers)}</p>}
      {preview.satisfies === true && (
        <p className="flex items-center gap-1.5 text-ok">
          <CheckIcon size={14} /> {text.satisfies}
        </p>
      )}
      {preview.satisfies === false && (
        <p className="flex items-start gap-1.5 text-warn">
          <WarnIcon size={14} className="mt-0.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">
            {text.satisfiesNot}
            {preview.satisfies_problem === null ? '.' : `: ${makeVisible(preview.satisfies_problem)}`}
          </span>
        </p>
      )}
      <p className="text-xs text-muted">
        {preview.looked_at === 0 ? text.nothingLooked : text.matched(preview.matched, preview.looked_at)}
      </p>
      {preview.calls.length > 0 && (
        <ul className="max-h-40 space-y-0.5 overflow-auto text-xs">
          {preview.calls.slice(0, SHOWN_CALLS).map((call) => (
            <li key={`${call.at} ${call.what}`} className="flex min-w-0 items-baseline gap-2">
              <span className="shrink-0 text-muted">
                <Time at={call.at} />
              </span>
              <span className="min-w-0 flex-1 truncate font-mono" title={makeVisible(call.what)}>
                {makeVisible(call.what)}
              </span>
              <Badge>{makeVisible(call.verdict)}</Badge>
            </li>
          ))}
          {more > 0 && <li className="text-muted">{text.moreMatched(more)}</li>}
        </ul>
      )}
    </div>
  );
}
