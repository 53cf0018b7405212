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
  /** `withVariables`: with those of earlier commands in front of it, whose values are in no rule's words. */
  | { kind: 'command'; command: string; cwd: string; withVariables?: boolean };

// Paths are absolute, and as the tool will use them: links in them are resolved where they are judged.
