/**
 * What a person is shown must be what would run. Characters that a screen hides, reorders or obeys
 * are written out, so that nothing in a command or a path can pass for something else.
 */
import type { AskHints } from '../../permissions/decision.js';
import type { Description } from '../../permissions/gate.js';

/** Control characters, invisible ones, and those that turn the direction of writing; how an emoji looks is harmless. */
const DECEPTIVE =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff0-\ufff8]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;

/** Spaces that push the rest of a line out of sight. */
const PADDING = /[^\S\n]{40,}/g;

const LONGEST_TITLE = 300;
const LONGEST_LINE = 100;
const LONGEST_PART = 200_000;

export function safeDescription(description: Description): Description {
  const { title, paths, command, diff, url, detail, questions, form } = description;
  return {
    ...description,
    title: shorten(oneLine(title), LONGEST_TITLE),
    paths: paths.map(oneLine),
    // A command is never cut: what is not shown would be run unseen.
    ...(command === undefined ? {} : { command: visible(command) }),
    ...(diff === undefined ? {} : { diff: shorten(visible(diff), LONGEST_PART) }),
    ...(url === undefined ? {} : { url: oneLine(url) }),
    ...(detail === undefined ? {} : { detail: shorten(visible(detail), LONGEST_PART) }),
    ...(questions === undefined
      ? {}
      : {
          questions: questions.map((question) => ({
            ...question,
            question: visible(question.question),
            options: question.options.map((option) => ({ ...option, label: oneLine(option.label) })),
          })),
        }),
    ...(form === undefined ? {} : { form: safeForm(form) }),
  };
}

/** Names and values of choices stay: they are what is sent. */
function safeForm(form: NonNullable<Description['form']>): NonNullable<Description['form']> {
  return {
    ...form,
    fields: form.fields.map((field) => ({
      ...field,
      label: oneLine(field.label),
      description: visible(field.description),
      options: field.options.map(({ value, label }) => ({ value, label: oneLine(label) })),
    })),
  };
}

const LONGEST_HINT = 2_000;

/** An engine's words for a question stand beside ours: no more obeyed, and no longer. */
export function safeHints(hints: AskHints): AskHints {
  const { blockedPath, reason, title, description, mcpServer } = hints;
  return {
    ...hints,
    ...(blockedPath === undefined ? {} : { blockedPath: oneLine(blockedPath) }),
    ...(reason === undefined ? {} : { reason: shorten(visible(reason), LONGEST_HINT) }),
    ...(title === undefined ? {} : { title: shorten(oneLine(title), LONGEST_TITLE) }),
    ...(description === undefined ? {} : { description: shorten(visible(description), LONGEST_HINT) }),
    ...(mcpServer === undefined
      ? {}
      : {
          mcpServer: {
            name: safeLine(mcpServer.name),
            ...(mcpServer.source === undefined ? {} : { source: safeLine(mcpServer.source) }),
          },
        }),
  };
}

/** A short text for one line of a card. */
export function safeLine(text: string): string {
  return shorten(oneLine(text), LONGEST_LINE);
}

function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(DECEPTIVE, written)
    .replace(PADDING, (spaces) => ` [${spaces.length} spaces] `);
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
