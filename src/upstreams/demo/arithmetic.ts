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

/** The value of the tokens as one expression; undefined where they are none. Not always finite. */
export function compute(tokens: readonly Token[]): number | undefined {
  const state = { tokens: tokens.flatMap(withPower), at: 0 };
  const value = sum(state, 0);
  return state.at === state.tokens.length ? value : undefined;
}

interface State {
  tokens: readonly Token[];
  at: number;
}

/** "squared" is the operator and its right side. */
function withPower(token: Token): Token[] {
  const power = /^\^ (\d)$/.exec(token.text)?.[1];
  if (power === undefined) return [token];
  return [
    { ...token, text: '^' },
    { ...token, kind: 'number', text: power },
  ];
}

function operatorAt(state: State, signs: string): string | undefined {
  const token = state.tokens[state.at];
  if (token?.kind !== 'operator' || !signs.includes(token.text)) return undefined;
  state.at += 1;
  return token.text;
}

function sum(state: State, depth: number): number | undefined {
  let value = product(state, depth);
  for (;;) {
    const operator = operatorAt(state, '+-');
    if (operator === undefined || value === undefined) return value;
    const right = product(state, depth);
    if (right === undefined) return undefined;
    value = operator === '+' ? value + right : value - right;
  }
}

function product(state: State, depth: number): number | undefined {
  let value = signed(state, depth);
  for (;;) {
    const operator = operatorAt(state, '*/%');
    if (operator === undefined || value === undefined) return value;
    const right = signed(state, depth);
    if (right === undefined) return undefined;
    value = operator === '*' ? value * right : operator === '/' ? value / right : value % right;
  }
}

function signed(state: State, depth: number): number | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (operatorAt(state, '-') !== undefined) {
    const value = signed(state, depth + 1);
    return value === undefined ? undefined : -value;
  }
  const base = valueOf(state, depth);
  if (base === undefined || operatorAt(state, '^') === undefined) return base;
  const exponent = signed(state, depth + 1);
  return exponent === undefined ? undefined : base ** exponent;
}

function valueOf(state: State, depth: number): number | undefined {
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
