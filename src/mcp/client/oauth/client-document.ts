/**
 * The gateway as a client that authorisation servers look up instead of registering it: its id is the address of a
 * document about it (client id metadata documents). A document says nothing that its address does not.
 */

interface PublicAddresses {
  /** Of the document, and the client id. */
  document: string;
  /** Where the browser comes back to. */
  callback: string;
}

/** For one server. Undefined where authorisation servers cannot look it up: only https is one's own for sure. */
export function publicAddresses(publicUrl: string | undefined, name: string): PublicAddresses | undefined {
  if (publicUrl?.startsWith('https://') !== true) return undefined;
  const base = `${publicUrl}/api/mcp/${encodeURIComponent(name)}`;
  return { document: `${base}/client`, callback: `${base}/callback` };
}

/** What is said of the gateway in either way. */
export function clientMetadata(callback: string) {
  return {
    client_name: 'Toolgate',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** Undefined where there is none. */
export function clientDocumentOf(
  { publicUrl }: { publicUrl?: () => string | undefined },
  name: string,
): object | undefined {
  const open = publicAddresses(publicUrl?.(), name);
  return open && { client_id: open.document, ...clientMetadata(open.callback) };
}
