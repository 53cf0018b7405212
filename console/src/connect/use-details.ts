/** The second step: what was typed, what the test found, and what is wrong with which field. */
import { useState } from 'react';
import type {
  UpstreamListWire,
  UpstreamTestWire,
  UpstreamWire,
} from '../../../src/server/console-api/wire/upstreams.js';
import { ApiError, post } from '../data/api.js';
import { useLanguage, useText } from '../text/language.js';
import {
  agentModelOf,
  type ConnectForm,
  checkConnected,
  checkReached,
  connectionOf,
  type FormField,
  fieldOf,
  fieldOfProblem,
  modelsOf,
  type Problems,
  reachedBy,
  type Starting,
  withModels,
} from './connect-form.js';
import { strings } from './form-strings.js';
import { ofField, upstreamSentence } from './problem-sentences.js';

type Said = Partial<Record<FormField, string>>;
type Doing = 'typing' | 'testing' | 'connecting';

export interface Details {
  starting: Starting;
  list: UpstreamListWire;
  form: ConnectForm;
  doing: Doing;
  /** What the server offers; undefined until it was asked. */
  tested: UpstreamTestWire | undefined;
  /** Names are typed, since the server gave none. */
  typing: boolean;
  models: readonly string[];
  agentModel: string | undefined;
  /** What is wrong with a field. */
  said: Said;
  /** What is wrong, and no field's fault. */
  problem: string | undefined;
  /** Counts attempts that were refused, each of which moves the focus to its field. */
  refused: number;
  /** It can be connected as it is. */
  ready: boolean;
  set(change: Partial<ConnectForm>): void;
  typeNames(): void;
  test(): Promise<void>;
  connect(): Promise<void>;
}

/** Another address or key is another server. */
const REACHING: readonly (keyof ConnectForm)[] = ['dialect', 'address', 'keyFrom', 'key', 'variable'];

export function useDetails(
  starting: Starting,
  start: ConnectForm,
  list: UpstreamListWire,
  onConnected: (name: string, model: string | undefined) => void,
): Details {
  const text = useText(strings);
  const language = useLanguage();
  const [form, setForm] = useState(start);
  const [doing, setDoing] = useState<Doing>('typing');
  const [tested, setTested] = useState<UpstreamTestWire | undefined>(
    starting.offered === undefined ? undefined : { ok: true, problem: null, models: [...starting.offered] },
  );
  const [typing, setTyping] = useState(false);
  const [said, setSaid] = useState<Said>({});
  const [problem, setProblem] = useState<string>();
  const [refused, setRefused] = useState(0);
  const models = modelsOf(form, tested);

  const refuse = (problems: Said): void => {
    setSaid(problems);
    setRefused((count) => count + 1);
  };
  const wordsOf = (problems: Problems): Said =>
    Object.fromEntries(Object.entries(problems).map(([field, which]) => [field, text.problems[which]]));
  const failed = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    const field = error instanceof ApiError ? fieldOf(error.param) : undefined;
    if (field === undefined) {
      setProblem(message);
      return;
    }
    const param = error instanceof ApiError ? error.param : null;
    refuse({ [field]: upstreamSentence(ofField(message, param), language) });
  };

  const test = async (): Promise<void> => {
    if (doing !== 'typing') return;
    const problems = checkReached(form, starting);
    setProblem(undefined);
    if (Object.keys(problems).length > 0) return refuse(wordsOf(problems));
    setSaid({});
    setDoing('testing');
    try {
      const answer = await post<UpstreamTestWire>('/api/upstreams/test', reachedBy(form));
      setTested(answer);
      const offered = answer.models;
      if (offered !== null) setForm((now) => withModels(now, starting, offered));
      if (answer.models?.length === 0) setTyping(true);
      if (answer.problem !== null)
        refuse({ [fieldOfProblem(answer.problem, form)]: upstreamSentence(answer.problem, language) });
    } catch (error) {
      failed(error);
    } finally {
      setDoing('typing');
    }
  };
  const connect = async (): Promise<void> => {
    if (doing !== 'typing') return;
    const problems = checkConnected(
      form,
      starting,
      models,
      list.data.map(({ name }) => name),
    );
    setProblem(undefined);
    if (Object.keys(problems).length > 0) return refuse(wordsOf(problems));
    setSaid({});
    setDoing('connecting');
    try {
      const made = await post<UpstreamWire>('/api/upstreams', connectionOf(form, models));
      onConnected(made.name, agentModelOf(form, models));
    } catch (error) {
      failed(error);
    } finally {
      setDoing('typing');
    }
  };
  return {
    ...{ starting, list, form, doing, tested, typing, models, said, problem, refused, test, connect },
    agentModel: agentModelOf(form, models),
    ready: typing || tested?.ok === true,
    set: (change) => {
      const next = { ...form, ...change };
      setForm(next);
      setSaid({});
      setProblem(undefined);
      if (REACHING.some((key) => next[key] !== form[key])) setTested(undefined);
    },
    typeNames: () => setTyping(true),
  };
}
