/**
 * The wall around commands: what a process may write, reach and see, enforced by the operating
 * system and not by reading its text.
 */
export interface Sandbox {
  readonly status: SandboxStatus;
  /** What commands and programs of tools see of the gateway's environment; no secret is in it. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * How to start `command` (a bash script) so that the wall holds. Rejects with a GatewayError
   * `unavailable` where the sandbox is required and cannot be had.
   */
  wrap(command: string, spec: SandboxSpec): Promise<WrappedCommand>;
  /**
   * Writes a file of the gateway's own, which was approved, while no command is looked at: those that
   * run leave it where it is, as long as it is what was written.
   */
  writeApproved<T>(file: { path: string; bytes: Uint8Array }, write: () => Promise<T>): Promise<T>;
  /** Ends proxies and removes what was made on disk. */
  close(): Promise<void>;
}

export interface SandboxSpec {
  /** Writable, with everything below, but for what runs code when it is written (`.git/hooks` …). */
  writable: readonly string[];
  /** Neither readable nor writable. */
  hidden: readonly string[];
  /** Hosts that may be reached; none: no network. */
  hosts: readonly string[];
  cwd: string;
  /** A private folder that is shown as the temporary folder; without it an empty one is. */
  tmp?: string;
}

/** To be given to spawn; `release` once the process is gone. */
export interface WrappedCommand {
  file: string;
  args: readonly string[];
  /** Added to the environment of the command. */
  env: Readonly<Record<string, string>>;
  /** It runs in its own pid namespace: whatever it starts ends with it. */
  isolated?: boolean;
  /** For a command that goes on: sets aside what it should not have made so far. */
  look(): Promise<readonly SetAside[]>;
  /** Tidies up, once however often it is called. Resolves with what the command should not have made. */
  release(): Promise<readonly SetAside[]>;
}

/** A file that runs code later, which a command made or changed where no wall could keep it from that. */
export type SetAside =
  | { path: string; outcome: 'set-aside'; keptAs: string }
  /** A link that was there is there again. */
  | { path: string; outcome: 'put-back' }
  /** Neither worked: a person has to look at it. */
  | { path: string; outcome: 'left' };

export type SandboxStatus =
  | { active: true; kind: 'bubblewrap' | 'seatbelt'; detail: string }
  /** `advice`: what to do to get one. */
  | { active: false; reason: 'off' | 'unavailable'; detail: string; advice: string };
