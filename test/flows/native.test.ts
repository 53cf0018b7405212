import { describeFlows } from './flows.js';

describeFlows('native');
