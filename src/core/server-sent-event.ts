/** One event of a `text/event-stream`, already unframed: multi-line data joined with `\n`. */
export interface ServerSentEvent {
  /** The `event:` field; empty where the stream gave none. */
  event: string;
  data: string;
}
