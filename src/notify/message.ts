/** A notice as a message for people, the same for every provider: what is written, and what can be pressed. */
import type { Notice, NoticeApproval } from './notice.js';

export type Choice = 'allow' | 'deny';

export interface Message {
  /** Of the outbox; answers name it. */
  delivery: string;
  title: string;
  /** Whose call, and where. */
  context: string;
  /** Plain text of a model's: never as markup. */
  text: string;
  /** Why it is asked, or what became of it. */
  note: string;
  choices: readonly Choice[];
  url: string | undefined;
}

/** What a person sees of a message without doing anything. */
export interface InView {
  /** Characters. */
  readonly longest: number;
  readonly lines: number;
  /** The note and the context stand in the same field as the text: they count too. */
  readonly isOneField?: boolean;
  /** Characters of the tool's name, where systems cut titles. */
  readonly longestName?: number;
}

/** Only what is in view can be allowed. */
export function messageOf(notice: Notice, inView: InView, delivery: string): Message {
  const { approval, key } = notice.data;
  if (approval === undefined) {
    const title = 'Toolgate: a test message';
    return {
      delivery,
      title,
      context: key,
      text: '',
      note: 'Questions will come here.',
      choices: [],
      url: undefined,
    };
  }
  const { decision } = approval;
  const { longest } = inView;
  const context = [key, approval.agent, approval.cwd]
    .filter((part) => part !== null && part !== '')
    .join(' · ');
  const around = inView.isOneField ? [askingWhy(approval), context] : [];
  const isNamed = approval.tool.length <= (inView.longestName ?? Number.POSITIVE_INFINITY);
  const isCut = !approval.whole || !isNamed || !isInView([approval.text, ...around], inView);
  return {
    delivery,
    title: `${decision === null ? 'Approval needed' : outcomeOf(approval)}: ${approval.tool}`,
    context,
    text: approval.text.length > longest ? `${approval.text.slice(0, longest)}…` : approval.text,
    note: decision === null ? askingNote(approval, isCut) : endingNote(approval),
    choices: decision === null ? choicesOf(approval, isCut) : [],
    url: approval.url ?? undefined,
  };
}

/** Enough blanks or empty lines to take what follows for something else, or not to look for it. */
const GAP = /[^\S\n]{8}|\n(?:[^\S\n]*\n){2}/;

function isInView(parts: readonly string[], { longest, lines }: InView): boolean {
  const all = parts.filter((part) => part !== '').join('\n');
  return all.length <= longest && all.split('\n').length <= lines && !GAP.test(all);
}

function choicesOf({ question, default_to_no }: NoticeApproval, isCut: boolean): Choice[] {
  if (question) return [];
  return isCut || default_to_no ? ['deny'] : ['allow', 'deny'];
}

/** As the card marks a call; that it changes files goes for most of what is asked about. */
const RISKS: Readonly<Record<string, string>> = {
  irreversible: 'Hard to undo.',
  outside: 'Outside its folder.',
  network: 'Uses the network.',
};

function askingWhy({ risks, why }: Pick<NoticeApproval, 'risks' | 'why'>): string {
  return [...(risks ?? []).flatMap((risk) => RISKS[risk] ?? []), why].filter((part) => part !== '').join(' ');
}

function askingNote(approval: NoticeApproval, isCut: boolean): string {
  const { question, default_to_no } = approval;
  const why = askingWhy(approval);
  if (question) return 'It is a question to you: open the card to answer it.';
  if (isCut) return `${why} Not all of it is shown here: open the card to allow it.`;
  return default_to_no ? `${why} Open the card to allow it.` : why;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  allowed: 'Allowed',
  covered: 'Allowed by a rule',
  denied: 'Denied',
  expired: 'Expired',
  cancelled: 'Withdrawn',
};

function outcomeOf({ state }: NoticeApproval): string {
  return OUTCOMES[state] ?? state;
}

function endingNote({ state, decision }: NoticeApproval): string {
  const reason = decision?.reason ? ` ${decision.reason}` : '';
  if (state === 'allowed' || state === 'denied') return `By ${decision?.by} (${decision?.via}).${reason}`;
  return reason.trim();
}
