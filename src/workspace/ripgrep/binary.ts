/** The search program: the one that comes with the gateway, or the operator's. */
import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';

/** Names another one; absolute. */
const RIPGREP_VARIABLE = 'TOOLGATE_RIPGREP';

type RipgrepBinary = { ok: true; path: string } | { ok: false; problem: string };

export async function findRipgrep(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RipgrepBinary> {
  const given = env[RIPGREP_VARIABLE];
  if (given !== undefined && given !== '') {
    return isAbsolute(given) && isExecutable(given)
      ? { ok: true, path: given }
      : { ok: false, problem: `${RIPGREP_VARIABLE} names no program: ${given}` };
  }
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    if (isExecutable(rgPath)) return { ok: true, path: rgPath };
    return { ok: false, problem: `ripgrep cannot be run: ${rgPath}` };
  } catch {
    return {
      ok: false,
      problem: `ripgrep is not installed for ${process.platform} ${process.arch}: install optional dependencies too, or set ${RIPGREP_VARIABLE} to the path of an rg`,
    };
  }
}

/** Whether tools that search are on, and why not. */
export async function ripgrepEnablement(): Promise<true | { enabled: false; reason: string }> {
  const binary = await findRipgrep();
  return binary.ok ? true : { enabled: false, reason: binary.problem };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
