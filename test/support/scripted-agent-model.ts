/**
 * The model behind an agent. An agent asks for more than its client did: titles, summaries, counts
 * of tokens; it has tools of its own and says things between the user's. So a script is found by the
 * prompt that it answers, which must be like no other, and the step by what the assistant has said
 * since. Everything else is answered with a harmless text.
 */
import { readRequest, type SeenRequest } from '../clients/read-request.js';
import { checkRequest } from '../clients/strict-request.js';
import { json, type Reply } from './replies.js';
import { errorInDialect, inDialect } from './scripted-answers.js';
import type { RecordedRequest, ScriptFunction } from './scripted-upstream.js';
import { offeredName, plainName, type ToldMessage, toldOf } from './told.js';
import { type Scripted, textAnswer } from './wire.js';

export interface AgentRequest {
  seen: SeenRequest;
  told: ToldMessage[];
  /** Tools on offer, by their plain names. */
  tools: string[];
  /** The assistant's messages since the prompt. */
  step: number;
}

/** Tools are called by their plain names. A reply is sent as it is. */
export type AgentStep = Scripted | ((request: AgentRequest) => Scripted | Reply | Promise<Scripted | Reply>);

/** A list in the place of a step answers the same state each time it is asked: first this, then that. */
export type AgentSteps = readonly (AgentStep | readonly AgentStep[])[];

/** One prompt and what the model was asked because of it. */
export interface ScriptedTurn {
  readonly prompt: string;
  readonly steps: AgentSteps;
  readonly requests: AgentRequest[];
}

const HARMLESS = textAnswer('Fine.');
const COUNTED_TOKENS = 1234;

const isList = (step: AgentStep | readonly AgentStep[]): step is readonly AgentStep[] => Array.isArray(step);

export class ScriptedAgentModel {
  /** What nobody has scripted, and what no strict upstream would have taken. */
  readonly problems: string[] = [];
  /** Requests that belong to no prompt. */
  readonly asides: SeenRequest[] = [];
  readonly #turns: ScriptedTurn[] = [];
  readonly #unasked = new Set<string>();
  #answers = 0;

  /** `prompt` is a piece of what the user says, like no other. */
  play(prompt: string, steps: AgentSteps): ScriptedTurn {
    const turn: ScriptedTurn = { prompt, steps, requests: [] };
    this.#turns.push(turn);
    return turn;
  }

  /** A step of a turn will not be asked for. */
  forget({ prompt }: ScriptedTurn, step: number): void {
    this.#unasked.add(`${prompt} ${step}`);
  }

  /** Forgets everything, and gives what went wrong. */
  clear(): string[] {
    this.#turns.length = 0;
    this.asides.length = 0;
    this.#unasked.clear();
    return this.problems.splice(0);
  }

  /** Steps that nobody has asked for. */
  get left(): string[] {
    return this.#turns.flatMap(({ prompt, steps, requests }) =>
      steps.flatMap((step, index) => {
        if (this.#unasked.has(`${prompt} ${index}`)) return [];
        const asked = requests.filter((request) => request.step === index).length;
        return asked < (isList(step) ? step.length : 1) ? [`step ${index + 1} of ${prompt}`] : [];
      }),
    );
  }

  /** Refuses with a 400 what it does not expect: nobody asks again then, and the test ends soon. */
  readonly script: ScriptFunction = async (request, index) => {
    try {
      return await this.#answer(request, index);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.problems.push(message);
      return errorInDialect(400, 'invalid_request_error', `Scripted model: ${message}`)(request, index);
    }
  };

  async #answer(request: RecordedRequest, index: number): Promise<Reply> {
    if (request.path.includes('/count_tokens')) return json({ input_tokens: COUNTED_TOKENS });
    if (request.method !== 'POST') return json({ object: 'list', data: [] });
    const seen = readRequest(request);
    const place = this.#placeOf(seen);
    if (place === undefined) {
      this.asides.push(seen);
      return inDialect(HARMLESS)(request, index);
    }
    checkRequest(seen);
    const step = this.#next(place.turn, place.step, seen);
    const asked = place.turn.requests.at(-1);
    const answer = typeof step === 'function' && asked !== undefined ? await step(asked) : step;
    if (typeof answer === 'function') throw new Error('A step is no answer');
    if ('kind' in answer) return answer;
    return inDialect(this.#numbered(answer, seen.tools))(request, index);
  }

  #next(turn: ScriptedTurn, step: number, seen: SeenRequest): AgentStep {
    const what = `step ${step + 1} of ${turn.prompt}`;
    const before = turn.requests.filter((request) => request.step === step).length;
    turn.requests.push({ seen, told: toldOf(seen), tools: seen.tools.map(plainName), step });
    const scripted = turn.steps[step];
    if (scripted === undefined) throw new Error(`there is no ${what}`);
    const next = isList(scripted) ? scripted[before] : scripted;
    if (next === undefined || (next === scripted && before > 0))
      throw new Error(`${what} was asked for again`);
    return next;
  }

  /** Every answer has an id of its own, and calls tools by the names that they are offered by. */
  #numbered(answer: Scripted, offered: readonly string[]): Scripted {
    this.#answers += 1;
    const parts = answer.parts.map((part) =>
      part.type === 'call' ? { ...part, name: offeredName(part.name, offered) } : part,
    );
    return { id: `answer_${this.#answers}`, ...answer, parts };
  }

  /** The last prompt that is known. A request without tools is none of an agent's loop. */
  #placeOf({ turns, tools }: SeenRequest): { turn: ScriptedTurn; step: number } | undefined {
    if (tools.length === 0) return undefined;
    let step = 0;
    for (const said of turns.toReversed()) {
      if (said.role === 'assistant') step += 1;
      if (said.role !== 'user') continue;
      const text = said.texts.join('\n');
      const [last] = this.#turns
        .map((turn) => ({ turn, at: text.lastIndexOf(turn.prompt) }))
        .filter(({ at }) => at >= 0)
        .toSorted((a, b) => b.at - a.at);
      if (last !== undefined) return { turn: last.turn, step };
    }
    return undefined;
  }
}
