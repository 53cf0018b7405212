/** Works out an expression from its tokens, by recursive descent: sum, product, sign, power, value. */

export type TokenKind = 'number' | 'operator' | 'open' | 'close' | 'comma' | 'function' | 'constant';

export interface Token {
  kind: TokenKind;
  /** The normal form: a sign, a function's name, the digits. */
  text: string;
  start: number;
  end: number;
  /** The user's own characters are the normal form. */
  verbatim: boolean;
}

export const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  ln: Math.log,
  log: Math.log10,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  exp: Math.exp,
  min: Math.min,
  max: Math.max,
  pow: Math.pow,
};

export const CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, π: Math.PI };

const MAX_DEPTH = 50;

/** The longest expression that the tokens begin with. Its value is not always finite. */
export function computePrefix(tokens: readonly Token[]): { value: number; length: number } | undefined {
  const state: State = { tokens, at: 0 };
  const value = sum(state, 0);
  return value === undefined ? undefined : { value, length: state.at };
}

/** The value of the tokens as one expression; undefined where they are none. */
export function compute(tokens: readonly Token[]): number | undefined {
  const prefix = computePrefix(tokens);
  return prefix?.length === tokens.length ? prefix.value : undefined;
}

interface State {
  tokens: readonly Token[];
  at: number;
}

/** Each reader below that finds no value leaves `at` where the reader above puts it back. */
type Reader = (state: State, depth: number) => number | undefined;

function operatorAt(state: State, signs: string): string | undefined {
  const token = state.tokens[state.at];
  if (token?.kind !== 'operator' || !signs.includes(token.text)) return undefined;
  state.at += 1;
  return token.text;
}

/** What stands behind an operator; where nothing does, the operator is not part of the expression. */
function behind(state: State, read: Reader, depth: number): number | undefined {
  const operator = state.at - 1;
  const value = read(state, depth);
  if (value === undefined) state.at = operator;
  return value;
}

function sum(state: State, depth: number): number | undefined {
  let value = product(state, depth);
  while (value !== undefined) {
    const operator = operatorAt(state, '+-');
    const right = operator === undefined ? undefined : behind(state, product, depth);
    if (right === undefined) return value;
    value = operator === '+' ? value + right : value - right;
  }
  return undefined;
}

function product(state: State, depth: number): number | undefined {
  let value = signed(state, depth);
  while (value !== undefined) {
    const operator = operatorAt(state, '*/%');
    const right = operator === undefined ? undefined : behind(state, signed, depth);
    if (right === undefined) return value;
    value = operator === '*' ? value * right : operator === '/' ? value / right : value % right;
  }
  return undefined;
}

function signed(state: State, depth: number): number | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (operatorAt(state, '-') !== undefined) {
    const value = signed(state, depth + 1);
    return value === undefined ? undefined : -value;
  }
  const base = operand(state, depth);
  if (base === undefined) return undefined;
  const fixed = POWERS[state.tokens[state.at]?.text ?? ''];
  if (fixed !== undefined) {
    state.at += 1;
    return base ** fixed;
  }
  if (operatorAt(state, '^') === undefined) return base;
  const exponent = behind(state, signed, depth + 1);
  return exponent === undefined ? base : base ** exponent;
}

/** "squared" is an operator with its right side. */
const POWERS: Readonly<Record<string, number>> = { '^ 2': 2, '^ 3': 3 };

function operand(state: State, depth: number): number | undefined {
  const token = state.tokens[state.at];
  if (token === undefined) return undefined;
  state.at += 1;
  switch (token.kind) {
    case 'number':
      return Number(token.text);
    case 'constant':
      return CONSTANTS[token.text];
    case 'open': {
      const value = sum(state, depth + 1);
      return closes(state) ? value : undefined;
    }
    case 'function':
      return applied(state, token.text, depth);
    default:
      return undefined;
  }
}

function applied(state: State, name: string, depth: number): number | undefined {
  const apply = FUNCTIONS[name];
  if (state.tokens[state.at]?.kind === 'number') return apply?.(Number(state.tokens[state.at++]?.text));
  if (state.tokens[state.at]?.kind !== 'open') return undefined;
  state.at += 1;
  const values: number[] = [];
  for (;;) {
    const value = sum(state, depth + 1);
    if (value === undefined) return undefined;
    values.push(value);
    if (state.tokens[state.at]?.kind !== 'comma') break;
    state.at += 1;
  }
  return closes(state) ? apply?.(...values) : undefined;
}

function closes(state: State): boolean {
  if (state.tokens[state.at]?.kind !== 'close') return false;
  state.at += 1;
  return true;
}
