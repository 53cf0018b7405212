export interface TestClient {
  readonly name: string;
  readonly variable: string;
  readonly package: string;
  readonly version: string;
  readonly file: string;
  readonly elsewhere: string;
}

export const TEST_CLIENTS: readonly TestClient[];
export function canInstallClients(): boolean;
export function findTestClient(name: string): string | undefined;
export function missingClients(): readonly TestClient[];
export function howToGetClient(client: TestClient): string;
export function installClients(): void;
