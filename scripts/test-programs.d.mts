export interface TestProgram {
  readonly name: string;
  readonly use: string;
  readonly variable: string;
  readonly names: readonly string[];
  readonly paths: readonly string[];
  readonly apt: readonly string[];
  readonly before?: { readonly file: string; readonly text: string };
  readonly elsewhere: Readonly<Record<string, string>>;
}

export const TEST_PROGRAMS: readonly TestProgram[];
export function findTestProgram(name: string): string | undefined;
export function howToGet(program: TestProgram): string;
