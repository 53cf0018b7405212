/** Who searches the web for WebSearch. One more provider is one file in `providers/` and a line in web-search.ts. */

export interface SearchProvider {
  readonly name: string;
  /** In the provider's own order. Throws ToolError. */
  search(query: string, options: SearchOptions): Promise<SearchHit[]>;
}

interface SearchOptions {
  /** Hints for the provider: WebSearch itself applies them to whatever comes back. */
  allowedDomains: readonly string[];
  blockedDomains: readonly string[];
  limit: number;
  signal: AbortSignal;
}

export interface SearchHit {
  title: string;
  url: string;
  /** Plain text; may be empty. */
  snippet: string;
}
