import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { Field } from '../ui/field.js';
import { Input } from '../ui/input.js';
import { Spinner } from '../ui/spinner.js';
import { LanguageChoice, ThemeChoice } from './choices.js';
import { check, type SignInState, signIn } from './sign-in.js';
import { strings } from './strings.js';

/** Replaces the pages, or covers those that stay mounted and hidden (`kept`). */
export function SignInPage({ state, kept }: { state: Exclude<SignInState, { kind: 'in' }>; kept: boolean }) {
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 px-4 py-8">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6 shadow-sm">
        <div className="mb-5 flex items-center gap-3">
          <img src="/favicon.svg" alt="" width={36} height={36} />
          <h1 className="text-xl font-semibold tracking-tight">Toolgate</h1>
        </div>
        <Body state={state} kept={kept} />
      </div>
      <div className="flex flex-wrap justify-center gap-x-6 gap-y-3">
        <LanguageChoice />
        <ThemeChoice />
      </div>
    </main>
  );
}

function Body({ state, kept }: { state: Exclude<SignInState, { kind: 'in' }>; kept: boolean }) {
  const text = useText(strings);
  if (state.kind === 'checking') return <Spinner label={text.signIn.checking} show />;
  if (state.kind === 'unreachable') return <Gone message={state.message} />;
  return <Form state={state} kept={kept} />;
}

function Gone({ message }: { message: string | undefined }) {
  const text = useText(strings);
  const [busy, setBusy] = useState(false);
  const retry = async () => {
    setBusy(true);
    await check();
    setBusy(false);
  };
  return (
    <div className="flex flex-col gap-4">
      {message === undefined ? (
        <ErrorNote title={text.signIn.unreachable} message={text.signIn.unreachableHint} />
      ) : (
        <ErrorNote title={text.signIn.failed(message)} message={text.signIn.retrying} />
      )}
      <Button variant="primary" busy={busy} onClick={retry}>
        {text.signIn.retry}
      </Button>
    </div>
  );
}

function Form({ state, kept }: { state: Extract<SignInState, { kind: 'out' | 'refused' }>; kept: boolean }) {
  const text = useText(strings);
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState('');
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = typed.trim();
    if (token === '' || busy) return;
    setBusy(true);
    setTyped('');
    await signIn(token);
    setBusy(false);
    field.current?.focus();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4" aria-label={text.signIn.title}>
      <p
        role="status"
        className={state.kind === 'out' && state.why === 'none' ? '' : 'font-medium text-danger'}
      >
        {reason(text, state)}
      </p>
      {kept && <p className="text-sm text-muted">{text.signIn.keptNote}</p>}
      <Field label={text.signIn.label} hint={text.signIn.hint}>
        <Input
          ref={field}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" busy={busy}>
        {text.signIn.action}
      </Button>
    </form>
  );
}

function reason(
  text: (typeof strings)['en'],
  state: Extract<SignInState, { kind: 'out' | 'refused' }>,
): string {
  if (state.kind === 'refused') return text.signIn.failed(state.message);
  if (state.why === 'bad-token') return text.signIn.badToken;
  if (state.why === 'unwritten') return text.signIn.unwritten;
  return state.why === 'ended' ? text.signIn.ended : text.signIn.none;
}
