/** What a request is about belongs to another node. */
import { type ErrorCode, GatewayError, type GatewayErrorOptions } from './errors.js';

/** A node by the owner of its leases, or by its name. */
export type NodeReference = { owner: string } | { node: string };

/** Where the nodes can reach each other the request is forwarded; anywhere else it is the error that it says. */
export class HeldElsewhere extends GatewayError {
  readonly at: NodeReference;
  /** The session, where it is one. */
  readonly session: string | undefined;

  constructor(
    message: string,
    {
      at,
      session,
      code = 'conflict',
      ...options
    }: GatewayErrorOptions & { at: NodeReference; session?: string; code?: ErrorCode },
  ) {
    super(code, message, options);
    this.at = at;
    this.session = session;
  }
}
