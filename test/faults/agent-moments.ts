/**
 * The moments at which a conversation can be broken off, as data. Each conversation ends with the
 * client's results, so that its last request can be repeated and must be answered from the record.
 */

import { MeetingPoint } from '../support/fifo.js';
import type { AgentSteps } from '../support/scripted-agent-model.js';
import type { AgentBed, KeyName } from './agent-bed.js';
import { bash, HeldStep, lookup, says, words } from './agent-script.js';

export interface Moment {
  name: string;
  permissions?: object;
  /** Which request of the client it is, counted from 0: while it runs, or once it is answered. */
  request: number;
  when: 'during' | 'after';
  /** With the client's connection the question would go as well. */
  killsOnly?: boolean;
  /**
   * Claude Code may begin with a built-in so late that it is taken for one that waits for the client:
   * then the calls are handed back, and it begins only with the client's results.
   */
  mayBeAnswered?: boolean;
  /** How the client sends results: by default together. */
  results?: 'together' | 'one by one' | 'one by one, new only';
  play(stage: Stage): Played;
}

export interface Stage {
  bed: AgentBed;
  key: KeyName;
  /** Undisturbed, the same conversation goes through without being held anywhere. */
  disturbed: boolean;
}

export interface Played {
  steps: AgentSteps;
  /** Resolves when the moment is there. */
  reached(): Promise<void>;
  /** What a client that streams has seen by then. */
  visible?: string;
  /** Done once the gateway is there again, before the client repeats its request. */
  beforeRepeat?(): Promise<void>;
  /** Done while the repeated request runs. */
  duringRepeat?(): Promise<void>;
  /** Lets go whatever is still held. */
  letGo(): Promise<void>;
  /** Calls of built-ins that change something: the file of each must have one line. */
  changes: readonly string[];
}

const FINAL = 'All of it is done, and this is the end of the whole story.';

/** Appends a line to a file of its own: run twice, it has two. */
const changing = (id: string): string => `echo ran >> ${id}.txt`;

const never = (): Promise<void> => Promise.resolve();

export const MOMENTS: readonly Moment[] = [
  {
    name: 'before hand-back, in the middle of the message',
    request: 0,
    when: 'during',
    play({ key, disturbed }) {
      const message = says('Looking. ', lookup(`${key}_a`), lookup(`${key}_b`));
      const held = new HeldStep(message, 'end');
      return {
        steps: [disturbed ? held.steps : message, words(FINAL)],
        reached: () => held.gate.reached,
        visible: 'Looking.',
        letGo: async () => held.gate.open(),
        changes: [],
      };
    },
  },
  {
    name: 'before hand-back, while a built-in of the same message runs',
    request: 0,
    when: 'during',
    mayBeAnswered: true,
    play: ({ bed, key, disturbed }) => {
      const point = disturbed ? new MeetingPoint(bed.work, `${key}_x`) : undefined;
      const command = [changing(`${key}_x`), ...(point === undefined ? [] : [point.words])].join('; ');
      return {
        steps: [says('Looking. ', bash(`${key}_x`, command), lookup(`${key}_a`)), words(FINAL)],
        reached: () => point?.met ?? never(),
        visible: 'Looking.',
        letGo: () => point?.letGo() ?? never(),
        changes: [`${key}_x`],
      };
    },
  },
  {
    name: 'after hand-back, with a built-in of the same message done',
    request: 0,
    when: 'after',
    play: ({ key }) => ({
      steps: [
        says('Looking. ', bash(`${key}_x`, changing(`${key}_x`)), lookup(`${key}_a`), lookup(`${key}_b`)),
        words(FINAL),
      ],
      reached: never,
      letGo: never,
      changes: [`${key}_x`],
    }),
  },
  {
    name: 'between two of three results',
    request: 1,
    when: 'after',
    results: 'one by one',
    play: ({ key }) => ({
      steps: [
        says(
          'Looking. ',
          lookup(`${key}_a`),
          bash(`${key}_x`, changing(`${key}_x`)),
          lookup(`${key}_b`),
          lookup(`${key}_c`),
        ),
        words(FINAL),
      ],
      reached: never,
      letGo: never,
      changes: [`${key}_x`],
    }),
  },
  {
    name: 'between two of three results, of which only the new ones are sent',
    request: 2,
    when: 'after',
    results: 'one by one, new only',
    play: ({ key }) => ({
      steps: [says('Looking. ', lookup(`${key}_a`), lookup(`${key}_b`), lookup(`${key}_c`)), words(FINAL)],
      reached: never,
      letGo: never,
      changes: [],
    }),
  },
  {
    name: 'with the results in, before the model has said anything',
    request: 1,
    when: 'during',
    play({ key, disturbed }) {
      const held = new HeldStep(words(FINAL), 'before');
      return {
        steps: [says('', lookup(`${key}_a`), lookup(`${key}_b`)), disturbed ? held.steps : words(FINAL)],
        reached: () => held.gate.reached,
        letGo: async () => held.gate.open(),
        changes: [],
      };
    },
  },
  {
    name: 'while a built-in runs',
    request: 0,
    when: 'during',
    play({ bed, key, disturbed }) {
      const point = disturbed ? new MeetingPoint(bed.work, `${key}_x`) : undefined;
      const command = [changing(`${key}_x`), ...(point === undefined ? [] : [point.words])].join('; ');
      return {
        steps: [
          says('Before. ', bash(`${key}_w`, changing(`${key}_w`))),
          says('Running. ', bash(`${key}_x`, command)),
          says('', lookup(`${key}_a`)),
          words(FINAL),
        ],
        reached: () => point?.met ?? never(),
        visible: 'Running.',
        letGo: () => point?.letGo() ?? never(),
        changes: [`${key}_w`, `${key}_x`],
      };
    },
  },
  ...(['before', 'after'] as const).map(
    (order): Moment => ({
      name: `while an approval waits, which is decided ${order} the request is repeated`,
      permissions: { mode: 'ask', unattended: 'wait' },
      killsOnly: order === 'before',
      request: 0,
      when: 'during',
      play({ bed, key }) {
        const decide = (): Promise<void> => bed.allowNext(key);
        return {
          steps: [
            says('Asking. ', bash(`${key}_x`, changing(`${key}_x`))),
            says('', lookup(`${key}_a`)),
            words(FINAL),
          ],
          reached: async () => void (await bed.approvalWaits(key)),
          visible: 'Asking.',
          ...(order === 'before' ? { beforeRepeat: decide } : { duringRepeat: decide }),
          letGo: never,
          changes: [`${key}_x`],
        };
      },
    }),
  ),
  {
    name: 'mid-stream, with half of the last answer out',
    request: 1,
    when: 'during',
    play({ key, disturbed }) {
      const held = new HeldStep(words(FINAL), 'half');
      return {
        steps: [says('Looking. ', lookup(`${key}_a`)), disturbed ? held.steps : words(FINAL)],
        reached: () => held.gate.reached,
        visible: 'All of it',
        letGo: async () => held.gate.open(),
        changes: [],
      };
    },
  },
  {
    name: 'mid-stream, behind a built-in',
    request: 0,
    when: 'during',
    play({ key, disturbed }) {
      const second = says('It ran, and here is a little more about it. ', lookup(`${key}_a`));
      const held = new HeldStep(second, 'half');
      return {
        steps: [
          says('Running. ', bash(`${key}_x`, changing(`${key}_x`))),
          disturbed ? held.steps : second,
          words(FINAL),
        ],
        reached: () => held.gate.reached,
        visible: 'It ran',
        letGo: async () => held.gate.open(),
        changes: [`${key}_x`],
      };
    },
  },
];
