/**
 * What a tool call would do to the world, as far as permissions are concerned. A tool names all of
 * its effects before it runs; the strictest verdict over them is the verdict on the call.
 */
export type Effect =
  /** `tree`: everything below the path as well (a search, a listing). */
  | { kind: 'read'; path: string; tree?: boolean }
  /** Creates, changes or removes. */
  | { kind: 'edit'; path: string }
  | { kind: 'fetch'; url: string }
  | { kind: 'command'; command: string; cwd: string };

// Paths are absolute, and as the tool will use them: links in them are resolved where they are judged.
