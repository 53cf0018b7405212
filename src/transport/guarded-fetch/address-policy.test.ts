import { describe, expect, it } from 'vitest';
import { judgeAddress, ownAddresses } from './address-policy.js';

describe('judgeAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '192.167.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('lets %s through', (address) => {
    expect(judgeAddress(address)).toEqual({ reach: 'public' });
  });

  it.each([
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '127.0.0.1',
    '127.255.255.254',
    '100.64.0.1',
    '::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
  ])('knows %s as private', (address) => {
    expect(judgeAddress(address).reach).toBe('private');
  });

  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.0.1',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    'fd20:ce::254',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::127.0.0.1',
    '::8.8.8.8',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '64:ff9b:1::1',
    '64:ff9b::169.254.169.254',
    '::ffff:169.254.169.254',
    '::ffff:0:127.0.0.1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '100::1',
    '4000::1',
    'not an address',
    '',
    'example.com',
  ])('never reaches %s', (address) => {
    expect(judgeAddress(address).reach).toBe('never');
  });

  it('knows the addresses of this machine, in whatever form', () => {
    const own = new Set(['93.184.216.34']);
    expect(judgeAddress('93.184.216.34', own).reach).toBe('private');
    expect(judgeAddress('::ffff:93.184.216.34', own).reach).toBe('private');
    expect(judgeAddress('93.184.216.35', own).reach).toBe('public');
    expect(ownAddresses()).toContain('127.0.0.1');
  });
});
