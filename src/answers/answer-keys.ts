/**
 * The kinds of rows in the store's table of answers. Rows of earlier versions are found by their
 * stored keys, so the form of a kind never changes.
 */
export type AnswerKey =
  /** What was answered over HTTP under an `Idempotency-Key`, for any model. */
  | { kind: 'http'; idempotencyKey: string }
  /** What a session answered under one; by its digest. */
  | { kind: 'session'; keyDigest: string }
  /** The answer to results, by the message whose calls they answer, so that any split of them finds it. */
  | { kind: 'results'; session: string; mark: number }
  /** By the end of the answer: there is one at most for each session. */
  | { kind: 'undelivered'; session: string; mark: number }
  /** An answer of `/v1/responses`, what its request added to the conversation, and whose it is where its upstream keeps it. */
  | { kind: 'response' | 'response-input' | 'response-owner'; id: string }
  /** The console's answer to the request that began a run. */
  | { kind: 'console-run'; run: string };

export function storedKey(key: AnswerKey): string {
  switch (key.kind) {
    case 'http':
      return `http:${key.idempotencyKey}`;
    case 'session':
      return `idempotency:${key.keyDigest}`;
    case 'results':
    case 'undelivered':
      return `${key.kind}:${key.session}:${key.mark}`;
    case 'response':
      return `response:${key.id}`;
    case 'response-input':
      return `response:${key.id}:input`;
    case 'response-owner':
      return `response:${key.id}:upstream`;
    case 'console-run':
      return `chat:${key.run}`;
  }
}
