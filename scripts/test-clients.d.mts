export interface TestClient {
  readonly name: string;
  readonly folder: string;
  readonly variable: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly file: string;
  readonly elsewhere: string;
}

export const TEST_CLIENTS: readonly TestClient[];
export function canInstallClients(): boolean;
export function findTestClient(name: string): string | undefined;
export function missingClients(): readonly TestClient[];
export function howToGetClient(client: TestClient): string;
export function installClients(clients: readonly TestClient[]): Promise<void>;
