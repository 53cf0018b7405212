/** From the words of a command line to what a command gets. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../config/nearest.js';
import { type Command, type OptionTable, type ParsedArguments, UsageError } from './shared/command.js';

type ParseArgsOptions = NonNullable<ParseArgsConfig['options']>;

/** Throws UsageError, with the nearest option where one is close. */
export function parseArguments(command: Command, args: readonly string[]): ParsedArguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: parseArgsOptions(command.options),
    // Not strict: its messages name no alternatives, and it stops at the first mistake.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const values: Record<string, string | undefined> = {};
  const switches = new Set<string>();
  const positionals: string[] = [];
  const rest: string[] = [];
  let afterTerminator = false;
  for (const token of tokens) {
    switch (token.kind) {
      case 'option-terminator':
        afterTerminator = true;
        break;
      case 'positional':
        (afterTerminator && command.passthrough !== undefined ? rest : positionals).push(token.value);
        break;
      case 'option': {
        const spec = Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined;
        if (spec === undefined) throw unknownOption(token.rawName, command.options);
        if (spec.value === undefined) {
          if (token.value !== undefined) throw new UsageError(`The option ${token.rawName} takes no value.`);
          switches.add(token.name);
        } else {
          const { value } = token;
          if (value === undefined || value === '' || (!token.inlineValue && value.startsWith('-'))) {
            throw new UsageError(`The option ${token.rawName} needs a value: ${token.rawName} ${spec.value}`);
          }
          values[token.name] = value;
        }
      }
    }
  }

  const extra = positionals[command.positionals ?? 0];
  if (extra !== undefined) throw new UsageError(`\`${command.name}\` does not take \`${extra}\`.`);
  return { values, switches, positionals, rest };
}

function parseArgsOptions(options: OptionTable): ParseArgsOptions {
  const result: ParseArgsOptions = {};
  for (const [name, { value, short }] of Object.entries(options)) {
    result[name] = {
      type: value === undefined ? 'boolean' : 'string',
      ...(short === undefined ? {} : { short }),
    };
  }
  return result;
}

function unknownOption(raw: string, options: OptionTable): UsageError {
  const close = nearest(raw.replace(/^-+/, ''), Object.keys(options));
  return new UsageError(`Unknown option ${raw}.${close === undefined ? '' : ` Did you mean --${close}?`}`);
}

/** A port number from the command line. Throws UsageError. */
export function parsePort(text: string, option = 'port'): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new UsageError(`--${option} takes a number from 0 to 65535, not \`${text}\`.`);
  }
  return port;
}

/** A number from 1 to `most`. Throws UsageError. */
export function parseCount(option: string, text: string, most: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > most) {
    throw new UsageError(`--${option} takes a number from 1 to ${most}, not \`${text}\`.`);
  }
  return count;
}

/** One of `choices`. Throws UsageError with the nearest one. */
export function parseChoice(option: string, text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  const close = nearest(text, choices);
  throw new UsageError(
    `--${option} takes one of ${choices.join(', ')}, not \`${text}\`.${close === undefined ? '' : ` Did you mean ${close}?`}`,
  );
}
