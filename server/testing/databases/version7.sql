-- The database of version1.sql, brought to version 7 by the statements of that version, with a hold of a node, a
-- cluster, a token of a user, a bound of a node and a line of the audit trail.
PRAGMA application_id = 1398033486;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE attempt_nodes (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  node TEXT NOT NULL,
  fingerprint TEXT NOT NULL REFERENCES fingerprints (sha256),
  PRIMARY KEY (campaign, run, fence, node),
  FOREIGN KEY (campaign, run, fence) REFERENCES attempts (campaign, run, fence)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  sampling_node TEXT NOT NULL, stored INTEGER NOT NULL DEFAULT 0, instances TEXT NOT NULL DEFAULT '{}', addresses TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (campaign, run, fence)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempts" VALUES(1,1,1,'a',2,'{}','[]');
INSERT INTO "attempts" VALUES(2,1,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,2,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,3,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,4,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,5,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,6,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,7,1,'a',0,'{}','[]');
INSERT INTO "attempts" VALUES(2,8,1,'a',0,'{}','[]');
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time REAL NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL
) STRICT;
INSERT INTO "audit" VALUES(1,1.0,'users/alice','create campaign','campaigns/c1');
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  orphan INTEGER NOT NULL,
  received REAL NOT NULL,
  samples INTEGER NOT NULL,          -- JSON array of SampleSeries
  UNIQUE (campaign, run, fence, seq),
  FOREIGN KEY (campaign, run) REFERENCES runs (campaign, run)
) STRICT;
INSERT INTO "batches" VALUES(1,1,1,1,1,0,1.79568676526467251777e+09,471);
INSERT INTO "batches" VALUES(2,1,1,1,2,0,1.79568676527435398099e+09,0);
CREATE TABLE campaigns (
  number INTEGER PRIMARY KEY,
  spec TEXT NOT NULL,          -- JSON object
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  request_id TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  requirements TEXT NOT NULL,  -- JSON object
  feeds_model INTEGER NOT NULL,
  planned_run_s REAL NOT NULL,
  measured_s REAL NOT NULL,
  samples INTEGER NOT NULL,
  model_version TEXT NOT NULL
, fit_failures INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "campaigns" VALUES(1,'{"clock":"real","effort":"budgeted","experiments":["micro.latency"],"fabric":"tcp","model":"","nodes":2,"only_nodes":[],"ranks":2,"runs":1,"same_node":[],"seed":0,"time_budget_s":60.0}','SUCCEEDED','1 of 1 runs measured; no model was asked for',1.79568676421406793596e+09,1.79568676527745723723e+09,'0fe6f8969b488bffece4cb29eeb799a0','1803a71d22de7b863cb16d30e9e89f4e3b648827f0a37a57ad17e0dad6b15144','{"micro.latency":1}',0,2.65000000000000035527e+00,1.06078038099985860753e+00,471,'',0);
INSERT INTO "campaigns" VALUES(2,'{"clock":"real","effort":"budgeted","experiments":[],"fabric":"tcp","model":"models/tcp","nodes":2,"only_nodes":[],"ranks":2,"runs":8,"same_node":[],"seed":0,"time_budget_s":20.0}','SUCCEEDED','published models/tcp/versions/1: 8 runs, 2098 samples, BUDGETED (pruned grid); 8.4 % of the samples are outliers (kept: medians count); 25 % of the variance lies between runs; get: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes; put: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes',1.79568676531816697125e+09,1.79568677104656720163e+09,'9f99c0b9e5bcffa89d23e81f3682c455','1028f9266741b3bcd5145082c280a3d4fce7bbed6ab316918beecae94686631e','{"micro.atomic":1,"micro.buffered_put":1,"micro.collective_all_to_all":1,"micro.collective_all_to_allv":1,"micro.collective_allgather":1,"micro.collective_allreduce":1,"micro.collective_broadcast":1,"micro.collective_gather":1,"micro.collective_reduce":1,"micro.collective_scan":1,"micro.compute":1,"micro.flood":1,"micro.issue":1,"micro.latency":1,"micro.overlap":1,"micro.pack":1,"micro.progress_call":1,"micro.progress_wait":1,"micro.put_combining":1,"micro.put_message":2,"micro.receive":1,"micro.serve":1,"micro.strip_overhead":1,"micro.vis":1,"micro.vis_chunk":1,"micro.vis_window":1}',1,2.565,5.65957852899919089395e+00,2098,'models/tcp/versions/1',0);
CREATE TABLE events (
  cursor INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  time REAL NOT NULL,
  message TEXT NOT NULL,
  view TEXT NOT NULL           -- JSON object
) STRICT;
INSERT INTO "events" VALUES(37,2,1.79568677103215527533e+09,'8 of 8 runs measured; fitting the model','{"advised_budget_s":0.0,"created_unix_s":1795686765.318167,"message":"8 of 8 runs measured; fitting the model","model_version":"","name":"campaigns/c2","points_done":512,"points_total":512,"runs_done":8,"runs_total":8,"samples":2098,"seconds_left":0.0,"spec":{"clock":"real","effort":"budgeted","experiments":[],"fabric":"tcp","model":"models/tcp","nodes":2,"only_nodes":[],"ranks":2,"runs":8,"same_node":[],"seed":0,"time_budget_s":20.0},"state":"FITTING","updated_unix_s":1795686771.0321553}');
INSERT INTO "events" VALUES(38,2,1.79568677104656720163e+09,'published models/tcp/versions/1: 8 runs, 2098 samples, BUDGETED (pruned grid); 8.4 % of the samples are outliers (kept: medians count); 25 % of the variance lies between runs; get: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes; put: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes','{"advised_budget_s":0.0,"created_unix_s":1795686765.318167,"message":"published models/tcp/versions/1: 8 runs, 2098 samples, BUDGETED (pruned grid); 8.4 % of the samples are outliers (kept: medians count); 25 % of the variance lies between runs; get: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes; put: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes","model_version":"models/tcp/versions/1","name":"campaigns/c2","points_done":512,"points_total":512,"runs_done":8,"runs_total":8,"samples":2098,"seconds_left":0.0,"spec":{"clock":"real","effort":"budgeted","experiments":[],"fabric":"tcp","model":"models/tcp","nodes":2,"only_nodes":[],"ranks":2,"runs":8,"same_node":[],"seed":0,"time_budget_s":20.0},"state":"SUCCEEDED","updated_unix_s":1795686771.0465672}');
CREATE TABLE fingerprints (
  sha256 TEXT PRIMARY KEY,
  facts TEXT NOT NULL          -- JSON object
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
INSERT INTO "meta" VALUES('schema_version','7');
INSERT INTO "meta" VALUES('installation_id','28ae4a58');
INSERT INTO "meta" VALUES('fence_base','0');
INSERT INTO "meta" VALUES('last_campaign','2');
CREATE TABLE model_versions (
  model TEXT NOT NULL REFERENCES models (name),
  version INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  campaigns TEXT NOT NULL,     -- JSON array
  created REAL NOT NULL,
  summary TEXT NOT NULL,
  content TEXT NOT NULL, size_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (model, version)
) STRICT;
INSERT INTO "model_versions" VALUES('tcp',1,'600bfefec63cde5291a4ab5da7bc427a3a5ff770009dad9d9bf932c2aca61aa8','["campaigns/c2"]',1.79568677104656267162e+09,'8 runs, 2098 samples, BUDGETED (pruned grid); 8.4 % of the samples are outliers (kept: medians count); 25 % of the variance lies between runs; get: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes; put: segment from 8 bytes: g is absent, the NIC is the bottleneck of a stream at fewer than 3 of its sizes','{
  "domain": {
    "max_bytes": 4194304,
    "max_ranks": 2,
    "min_bytes": 8,
    "min_ranks": 2
  },
  "fingerprint": {
    "cache.l1d_bytes": {
      "match": "soft",
      "value": "49152"
    },
    "cache.l1i_bytes": {
      "match": "soft",
      "value": "32768"
    },
    "cache.l2_bytes": {
      "match": "soft",
      "value": "1048576"
    },
    "cache.l3_bytes": {
      "match": "soft",
      "value": "33554432"
    },
    "clock": {
      "match": "soft",
      "value": "real"
    },
    "cpu.architecture": {
      "match": "hard",
      "value": "x86_64"
    },
    "cpu.cores": {
      "match": "soft",
      "value": "2"
    },
    "cpu.model": {
      "match": "soft",
      "value": "AMD EPYC"
    },
    "cpu.sockets": {
      "match": "soft",
      "value": "1"
    },
    "cpu.threads": {
      "match": "soft",
      "value": "2"
    },
    "fabric": {
      "match": "hard",
      "value": "tcp"
    },
    "kernel": {
      "match": "ignore",
      "value": "6.1.0-31-amd64"
    },
    "memory_bytes": {
      "match": "soft",
      "value": "25769803776"
    },
    "numa.nodes": {
      "match": "soft",
      "value": "1"
    }
  },
  "name": "tcp",
  "network": {
    "inter-node": {
      "am": {
        "queue_depth": {
          "at_least": true,
          "ci": [
            256.0,
            256.0
          ],
          "method": "hinge; no knee up to the largest burst",
          "runs": 8,
          "samples": 256,
          "unit": "1",
          "value": 256.0
        },
        "segments": [
          {
            "G_s_per_byte": {
              "ci": [
                4.5038778139830966e-11,
                3.109979293307559e-10
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 256,
              "unit": "s/B",
              "value": 1.7801835373529343e-10
            },
            "L_s": {
              "ci": [
                1.174273891226816e-06,
                1.6873506610553655e-06
              ],
              "method": "wls-per-run+t; L includes the handler",
              "runs": 8,
              "samples": 256,
              "unit": "s",
              "value": 1.4308122761410907e-06
            },
            "from_bytes": 8,
            "o_base_s": {
              "ci": [
                4.090705273160589e-06,
                4.661575924612806e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 256,
              "unit": "s",
              "value": 4.376140598886697e-06
            },
            "o_per_byte_s": {
              "ci": [
                1.324354418478578e-10,
                3.3039596636160803e-10
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 256,
              "unit": "s/B",
              "value": 2.3141570410473292e-10
            },
            "to_bytes": 2049
          }
        ]
      },
      "get": {
        "buffers": [
          {
            "bytes": 131072,
            "read_s_per_byte": {
              "ci": [
                1.5542214274146148e-11,
                1.5774543940292986e-11
              ],
              "method": "run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 1.5658379107219567e-11
            },
            "retire_s_per_byte": {
              "ci": [
                0.0,
                0.0
              ],
              "method": "paired-run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 0.0
            }
          },
          {
            "bytes": 524288,
            "read_s_per_byte": {
              "ci": [
                1.5366071713802302e-11,
                1.5665536992464454e-11
              ],
              "method": "run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 1.5515804353133378e-11
            },
            "retire_s_per_byte": {
              "ci": [
                0.0,
                1.5182551887640935e-11
              ],
              "method": "paired-run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 0.0
            }
          },
          {
            "bytes": 16777216,
            "read_s_per_byte": {
              "ci": [
                2.7348265365200907e-11,
                3.1989082360027496e-11
              ],
              "method": "run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 2.96686738626142e-11
            },
            "retire_s_per_byte": {
              "ci": [
                6.050586153582332e-11,
                9.115508756289782e-11
              ],
              "method": "paired-run-medians+t",
              "runs": 8,
              "samples": 228,
              "unit": "s/B",
              "value": 7.583047454936057e-11
            }
          }
        ],
        "queue_depth": {
          "at_least": true,
          "ci": [
            256.0,
            256.0
          ],
          "method": "hinge; no knee up to the largest burst",
          "runs": 8,
          "samples": 764,
          "unit": "1",
          "value": 256.0
        },
        "segments": [
          {
            "G_s_per_byte": {
              "ci": [
                1.096148061781806e-11,
                8.555191495003656e-11
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s/B",
              "value": 4.8256697783927315e-11
            },
            "L_s": {
              "ci": [
                0.0,
                1.8667160668277785e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s",
              "value": 6.089134720239994e-07
            },
            "from_bytes": 8,
            "o_base_s": {
              "ci": [
                4.21513062279874e-06,
                4.281711373228433e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s",
              "value": 4.248420998013586e-06
            },
            "o_per_byte_s": {
              "ci": [
                0.0,
                0.0
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s/B",
              "value": 0.0
            },
            "r_base_s": {
              "ci": [
                2.3761655950934168e-06,
                3.7695145398282377e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s",
              "value": 3.0728400674608272e-06
            },
            "r_per_byte_s": {
              "ci": [
                2.415905634547436e-11,
                3.6217557502564584e-11
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s/B",
              "value": 3.018830692401947e-11
            },
            "s_base_s": {
              "ci": [
                1.7303515177883676e-06,
                8.681440608317669e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s",
              "value": 5.2058960630530186e-06
            },
            "s_per_byte_s": {
              "ci": [
                3.970251010601167e-11,
                1.427561920761565e-10
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 764,
              "unit": "s/B",
              "value": 9.122935109108409e-11
            },
            "to_bytes": 4194305
          }
        ]
      },
      "put": {
        "queue_depth": {
          "at_least": true,
          "ci": [
            256.0,
            256.0
          ],
          "method": "hinge; no knee up to the largest burst",
          "runs": 8,
          "samples": 850,
          "unit": "1",
          "value": 256.0
        },
        "segments": [
          {
            "G_s_per_byte": {
              "ci": [
                0.0,
                2.7238635450663554e-11
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s/B",
              "value": 0.0
            },
            "L_s": {
              "ci": [
                0.0,
                2.906350164283634e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s",
              "value": 5.969940923420246e-07
            },
            "from_bytes": 8,
            "o_base_s": {
              "ci": [
                3.6927667378927875e-06,
                4.837171486011849e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s",
              "value": 4.264969111952318e-06
            },
            "o_per_byte_s": {
              "ci": [
                1.09542754211801e-10,
                1.832821244618833e-10
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s/B",
              "value": 1.4641243933684214e-10
            },
            "r_base_s": {
              "ci": [
                1.880255912436217e-06,
                3.6890973993206223e-06
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s",
              "value": 2.7846766558784197e-06
            },
            "r_per_byte_s": {
              "ci": [
                0.0,
                0.0
              ],
              "method": "wls-per-run+t",
              "runs": 8,
              "samples": 850,
              "unit": "s/B",
              "value": 0.0
            },
            "to_bytes": 4194305
          }
        ]
      }
    }
  },
  "provenance": {
    "campaigns": [
      "campaigns/c2"
    ],
    "fitted_at": "2026-11-26T09:52:51.033Z",
    "fitter_version": "fit/8",
    "sample_sha256": "8e3987e2d30c549bf1b3b1b3674e005416796aab8af4bc635912eba9487a9683"
  },
  "schema_version": 1,
  "sha256": "600bfefec63cde5291a4ab5da7bc427a3a5ff770009dad9d9bf932c2aca61aa8"
}
',10748);
CREATE TABLE models (
  name TEXT PRIMARY KEY,
  fabric TEXT NOT NULL,
  created REAL NOT NULL
) STRICT;
INSERT INTO "models" VALUES('tcp','tcp',1.79568677104656267162e+09);
CREATE TABLE node_bounds (
  node TEXT PRIMARY KEY,
  not_before REAL NOT NULL     -- certificates that began earlier are not accepted
) STRICT, WITHOUT ROWID;
INSERT INTO "node_bounds" VALUES('a',5.0);
CREATE TABLE node_holds (
  node TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  since REAL NOT NULL,
  deadline REAL NOT NULL       -- what it works on ends then; 0: at its own end
) STRICT, WITHOUT ROWID;
INSERT INTO "node_holds" VALUES('b','new NIC','users/x',5.0,0.0);
CREATE TABLE nodes (
  name TEXT PRIMARY KEY,
  agent_version TEXT NOT NULL,
  fingerprint TEXT NOT NULL,   -- JSON object
  fabrics TEXT NOT NULL,       -- JSON array
  experiments TEXT NOT NULL,   -- JSON array of declarations as text
  last_seen REAL NOT NULL
, cluster TEXT NOT NULL DEFAULT 'default') STRICT;
INSERT INTO "nodes" VALUES('b','0.1.0','{"cache.l1d_bytes":"49152","cache.l1i_bytes":"32768","cache.l2_bytes":"1048576","cache.l3_bytes":"33554432","cpu.architecture":"x86_64","cpu.cores":"2","cpu.model":"AMD EPYC","cpu.sockets":"1","cpu.threads":"2","kernel":"6.1.0-31-amd64","memory_bytes":"25769803776","numa.nodes":"1"}','["tcp"]','["micro.latency"]',1795686771.02537,'default');
INSERT INTO "nodes" VALUES('a','0.1.0','{"cache.l1d_bytes":"49152","cache.l1i_bytes":"32768","cache.l2_bytes":"1048576","cache.l3_bytes":"33554432","cpu.architecture":"x86_64","cpu.cores":"2","cpu.model":"AMD EPYC","cpu.sockets":"1","cpu.threads":"2","kernel":"6.1.0-31-amd64","memory_bytes":"25769803776","numa.nodes":"1"}','["tcp"]','["micro.latency"]',1.79568677103030681614e+09,'big');
CREATE TABLE payloads (
  batch INTEGER PRIMARY KEY REFERENCES batches (id),
  data TEXT NOT NULL           -- JSON array of SampleSeries
) STRICT;
INSERT INTO "payloads" VALUES(1,'[{"note":"not measured: active messages carry at most 8184 B on this fabric, not 8192 B","point":{"experiment":"micro.latency","params":{"bytes":8192},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"not measured: active messages carry at most 8184 B on this fabric, not 2097152 B","point":{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":128},"variant":"am"},"run":1,"stop_reason":"converged","timestamps_s":[0.0011089949985034764,0.0011212539993721293,0.0011342529996909434,0.0011460709993116325,0.0011582189999899128,0.0011702769988914952],"values":[6.139000106486492e-06,6.0289994507911615e-06,6.289499651757069e-06,5.858999429619871e-06,6.043999746907502e-06,5.9690000853152014e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":32},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.0012864299987995764,0.0012950729997101007,0.0013037359985901276,0.0013122789987392025,0.0013207809988671215,0.0013295139997353544],"values":[8.633000106783584e-06,8.51299955684226e-06,8.513001375831664e-06,8.443001206615008e-06,8.431999958702363e-06,8.633000106783584e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":2048},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.001462722999349353,0.0014716459991177544,0.0014804299989918945,0.0014891629998601275,0.0014978660001361277,0.001506608999989112],"values":[8.703000276000239e-06,8.823000825941563e-06,8.672999683767557e-06,8.633000106783584e-06,8.643000910524279e-06,8.643000910524279e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":524288},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.0023601220000273315,0.0024234470001829322,0.0024807919999148,0.002538367998567992,0.002594261999547598,0.002649513999131159,0.002712417999646277,0.0027751919988077134,0.002832957999999053,0.0028922759993292857,0.002945214999272139,0.002997162999236025,0.0030494309994537616,0.0031016689990792656,0.00315877399953024,0.003211221999663394,0.003262939999331138,0.003314405999844894,0.003365662998476182,0.0034171899987995857,0.0035213749997637933,0.0035871829986717785,0.003697497999382904,0.003753842000151053,0.0038053289990784833,0.003856314999211463,0.003906609999830835,0.003957375998652424,0.004007379999166005,0.004057795998960501,0.004108420998818474,0.004159356998570729,0.004220117998556816,0.004270622999683837,0.004319926998505252,0.004370872999061248,0.004421497998919222,0.00447368599998299,0.0045252129984874045,0.004576359999191482,0.004628767999747652,0.004760394000186352,0.00482662299873482,0.004877919998762081,0.0049280939983873395,0.004978619999747025,0.005030626998632215,0.00508266499855381],"values":[6.76910003676312e-05,6.272400059970096e-05,5.707499985874165e-05,5.7225001000915654e-05,5.5823998991400003e-05,5.468099880090449e-05,5.9889000112889335e-05,6.268399920372758e-05,5.7715998991625383e-05,5.634399894915987e-05,5.287899875838775e-05,5.187799979466945e-05,5.2207999033271335e-05,5.217799844103865e-05,5.316900023899507e-05,5.2397999752429314e-05,5.1667999287019484e-05,5.121600042912178e-05,5.119700108480174e-05,5.1467000957927667e-05,0.00010411500079499092,5.8978001106879674e-05,0.00011025499952665996,5.628399958368391e-05,5.143699854670558e-05,5.093599975225516e-05,5.0225000450154766e-05,5.070600127510261e-05,4.9943999329116195e-05,5.0355001803836785e-05,5.056500049249735e-05,5.0876000386779197e-05,5.088600119051989e-05,4.976399941369891e-05,4.924400127492845e-05,5.088599937153049e-05,5.056500049249735e-05,5.212799987930339e-05,5.1467000957927667e-05,5.108600089442916e-05,5.2347999371704645e-05,0.00013156600107322447,6.617899998673238e-05,5.1236000217613764e-05,5.011400025978219e-05,5.046600017521996e-05,5.194700133870356e-05,5.198800135985948e-05],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":32768},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.005879094000192708,0.005893194998861873,0.005904150999413105,0.005915597999774036,0.005926824998823577,0.0059383419993537245,0.005952502999207354,0.005963138999504736,0.005973684999844409],"values":[1.048600097419694e-05,1.371100006508641e-05,1.0415998985990882e-05,1.1186999472556636e-05,1.1157000699313357e-05,1.0965999535983428e-05,1.1156998880323954e-05,1.0585999916656874e-05,1.0485999155207537e-05],"verified":true,"warmup_dropped":4},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":2048},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.006131860998721095,0.006140362998849014,0.006149035998532781,0.006157598998470348,0.006166051998661715,0.006174553998789634],"values":[8.543000149074942e-06,8.402001185459085e-06,8.572000297135673e-06,8.472999979858287e-06,8.39300082589034e-06,8.422000973951072e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":128},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.006311618999461643,0.006320032000076026,0.006328513998596463,0.006336986998576322,0.006345499999952153,0.006354212999212905],"values":[8.302000424009748e-06,8.322000212501734e-06,8.39200038171839e-06,8.383000022149645e-06,8.442999387625605e-06,8.4530001913663e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":8192},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.006483625998953357,0.00649347999933525,0.006503024998892215,0.006512097999802791,0.006521401999634691,0.006530875998578267],"values":[8.96399978955742e-06,9.75399962044321e-06,9.445000614505261e-06,8.973000149126165e-06,9.254001270164736e-06,9.164001312456094e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":131072},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.006756031998520484,0.006775350999305374,0.00679483999920194,0.006813668000177131,0.006832325998402666,0.006851243999335566],"values":[2.0360001144581474e-05,1.919900023494847e-05,1.9338998754392378e-05,1.873800101748202e-05,1.859800067904871e-05,1.857799907156732e-05],"verified":true,"warmup_dropped":2},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"get"},"run":1,"stop_reason":"time_budget","timestamps_s":[0.011036599998988095,0.011874800999066792,0.012621824998859665,0.01352646499981347,0.01446119999855,0.015411267999297706,0.01669027699972503,0.017780954000045313,0.01880182799868635,0.019819596000161255,0.02071885799887241,0.021595976999378763,0.02249415799997223,0.02337880799859704,0.024387462999584386,0.025328276999061927,0.026280127000063658,0.02724026999931084,0.028229695999471005,0.02917966399945726,0.030140357999698608,0.031117264999920735,0.03207065799870179,0.03301188299883506,0.03389167599925713,0.034590127999763354,0.035490782000124454,0.035909086000174284,0.03629893799916317,0.03674717699868779,0.03729799899883801,0.03774293300011777,0.038272041998425266,0.038816794998638215,0.03945435700006783,0.04009351999957289,0.040506476998416474,0.04109185999914189,0.04146377500001108,0.041836050999336294,0.04226625299997977,0.04272885299906193,0.04340798599878326,0.04414422499939974,0.0450512389998039,0.04596076599955268,0.046397166999668116,0.04715230399961001,0.0481230229997891,0.049046790998545475,0.04997299299975566,0.050907066999570816,0.051842883998688194,0.05227775200000906,0.05269540599874745,0.053217183998640394,0.05375976399955107,0.05428766199838719,0.054893155000172555,0.055532979999043164,0.055985665998377954,0.05651803000000655,0.057168470999386045,0.057735175998459454,0.05828906299939263,0.05894181699841283],"values":[0.0009051710003404878,0.0008379209994018311,0.0007463330002792645,0.0009042989986483008,0.0009346450005978113,0.0009491460004937835,0.00127078700097627,0.001090496998585877,0.0010208040002908092,0.0010106779991474468,0.0008991819995571859,0.0008770490003371378,0.0008981200007838197,0.0008845800002745818,0.0010028070009866497,0.0009407439993083244,0.0009517799990135245,0.0009588109987817006,0.0009893259993987158,0.0009498970011918573,0.00096062400007213,0.0009694259988464182,0.0009533120010019047,0.0009411650007677963,0.0008797129994491115,0.0006983820003370056,0.0009005740012071328,0.00041823399988061283,0.00038979199962341227,0.00044808900020143483,0.0005507419991772622,0.00044487400009529665,0.0005222789986873977,0.0005423090005933773,0.0006374919994414086,0.0006390830003510928,0.0004128969994781073,0.000585313000556198,0.000371844998880988,0.0003721960001712432,0.00043012199967051856,0.00046252999891294166,0.0006790629995521158,0.0007361690004472621,0.0009069339994312031,0.0009094570013985503,0.0004363309999462217,0.0007550570007879287,0.0009613740003260318,0.0009236980004061479,0.000926132001040969,0.0009340040014649276,0.0009357459985039895,0.000434567999036517,0.00041757400140340906,0.0005216980007389793,0.0005425200015451992,0.0005278179996821564,0.0006054130008124048,0.0006397649995051324,0.00045261599916557316,0.0005322939996403875,0.0006503710010292707,0.0005559490000450751,0.0005538269997487077,0.0006462339988502208],"verified":true,"warmup_dropped":2},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":32768},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.06407593799849565,0.06408685499991407,0.06409825199989427,0.06410924800002249,0.06411994399968535,0.0641310209994117],"values":[1.0925999958999455e-05,1.065600008587353e-05,1.0575999112916179e-05,1.0756000847322866e-05,1.0625999493640848e-05,1.0615998689900152e-05],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":128},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.06429223099985393,0.06430071399881854,0.06430912599898875,0.0643175989989686,0.06432598199899076,0.06433477499922446],"values":[8.372000593226403e-06,8.39300082589034e-06,8.321998393512331e-06,8.392999006900936e-06,8.322998837684281e-06,8.39300082589034e-06],"verified":true,"warmup_dropped":3},{"note":"not measured: active messages carry at most 8184 B on this fabric, not 524288 B","point":{"experiment":"micro.latency","params":{"bytes":524288},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":8},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.06447978100004548,0.06448823399841785,0.06449663599960331,0.06450519899954088,0.06451362199914001,0.06452215399986017],"values":[8.361999789485708e-06,8.353001248906367e-06,8.33200101624243e-06,8.472999979858287e-06,8.363000233657658e-06,8.39200038171839e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":2048},"variant":"am"},"run":1,"stop_reason":"converged","timestamps_s":[0.0646670299993275,0.06468023999877914,0.06469294899943634,0.06470589799937443,0.06471862699982012,0.06473105599980045],"values":[6.549499630637001e-06,6.549500540131703e-06,6.143999598862138e-06,6.419500095944386e-06,6.3340003180201165e-06,6.123999810370151e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"put"},"run":1,"stop_reason":"max_reps","timestamps_s":[0.06713314099943091,0.06746498599932238,0.06784697599869105,0.06813530599902151,0.06844182299937529,0.06877932699899247,0.06912942999952065,0.06943162099923939,0.06981422099852352,0.07011955699999817,0.07031524899866781,0.07050254899877473,0.0707483449987194,0.07101875899934385,0.07135528099934163,0.07171350599855941,0.07197474599888665,0.07222727199950896,0.07249707499977376,0.07280540499959898,0.07298559399896476,0.07317374499871221,0.07335309199879703,0.07356110299951979,0.07389024399890332,0.07416224999906262,0.07443237299958128,0.07473131899860164,0.07503010499931406,0.07542305099923396,0.07578143599857867,0.0760615939998388,0.07636643899968476,0.07672533499862766,0.07705584799987264,0.07745635499850323,0.07780974299930676,0.07810905999940587,0.07830144699983066,0.07866574999934528,0.07900681899991469,0.07945079199998872,0.07997353199971258,0.08041183599925716,0.0807393149989366,0.08092729499912821,0.08124909499929345,0.08157030499933171,0.08176520499910112,0.08194989099865779,0.08213339499889116,0.08231436499954725,0.08264663099907921,0.0829806389992882,0.08326922999913222,0.08348101599949587,0.08382112299841538,0.08414855199953308,0.08433128499927989,0.08451285599949188,0.0846891589990264,0.08486841599915351,0.08518895499946666,0.08538798199879238,0.08571618099995248,0.08604471199942054,0.0863568969998596,0.08653280999897106,0.08671462099846394,0.0868966329999239,0.08707598000000871,0.08728450199851068,0.08756184599951666,0.08780592999937653,0.08815025399962906,0.08842383199953474,0.08864241799892625,0.08882894599992142,0.08901690699894971,0.08920125199983886,0.08938907199990354,0.08967822399972647,0.08994617399912386,0.09024070299892628,0.09050465699874621,0.09080073899895069,0.09109939399968425,0.09137336299863819,0.09171963999870059,0.09193202699862013,0.09221850399990217,0.09250346999942849,0.09277914099948248,0.09297002599851112,0.09319380999841087,0.09346262100007152,0.09385875199950533,0.09406646199931856,0.09433100699970964,0.09451854699909745],"values":[0.00033476000135124195,0.0003315350004413631,0.0003814589999819873,0.00028793999990739394,0.00030642700039607007,0.0003367930003150832,0.00034399300056975335,0.0003021100001205923,0.00038250999932643026,0.00030141999923216645,0.00019560200053092558,0.00018721999913395848,0.00024570599998696707,0.0002703440004552249,0.0003324959998280974,0.0003581549990485655,0.00026116899971384555,0.00025169500077026896,0.000269732998276595,0.00030822000007901806,0.0001801290000003064,0.0001801590005925391,0.00017926699911186006,0.00020793099974980578,0.00032907099921430927,0.00027170499924977776,0.00027003299874195363,0.000298845998258912,0.0002986960007547168,0.0003928559999621939,0.00035788399873126764,0.0002800780002871761,0.0002992469999298919,0.0003583050001907395,0.0003304329984530341,0.00040042700129561126,0.00035330699938640464,0.00029924599948571995,0.00019232699924032204,0.0003642330011643935,0.000340998998581199,0.0004439029999048216,0.0005226700013736263,0.00043823400119435973,0.0003274079990660539,0.00018791000002238434,0.00032171999919228256,0.00032115000067278743,0.0001878100010799244,0.00018462600019120146,0.00018342399926041253,0.00018091000129061285,0.0003321959993627388,0.0003339380000397796,0.0002885209996748017,0.0002117160001944285,0.0003400369987502927,0.0003273490001447499,0.00018267300038132817,0.00018150100004277192,0.00017623299936531112,0.0001791869999578921,0.00032017800003814045,0.00019864600108121522,0.00032813899997563567,0.0003257970001868671,0.000312114998450852,0.00017584300076123327,0.00018173100033891387,0.00018195199845649768,0.00017927699991560075,0.00020845099970756564,0.0002644039996084757,0.00024401399969065096,0.00034425400008331053,0.00027350800155545585,0.0002185159992222907,0.00018645799900696147,0.0001878910006780643,0.00018427499890094623,0.00018774000091070775,0.0002890820014727069,0.00026786900161823723,0.000294458999633207,0.00026388399965071585,0.00029601200003526174,0.00029857499976060353,0.000273907999144285,0.0003462069998931838,0.00021231699975032825,0.0002863969984900905,0.00028489500073192175,0.00027561100068851374,0.0001908149988594232,0.00022371399973053485,0.0002687310006876942,0.00039607100006833207,0.00020761999985552393,0.0002644750002218643,0.00018747000103758182],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.09883111199997074,0.09928350699919974,0.0997491620000801,0.10019420599928708,0.10061874999883003,0.10103971799981082],"values":[0.00045625099846802186,0.0004520840011537075,0.0004650739992939634,0.00044477300070866477,0.0004244640003889799,0.0004205979985272279],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":512},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.10338699099884252,0.10339552400000684,0.10340420600005018,0.10341273899939551,0.10344742099914583,0.1034578569997393,0.10347063599874673,0.1034791279998899,0.10348755099948903,0.10349915799997689,0.10350755099898379,0.10351604300012696,0.10352450599930307,0.10353298900008667,0.10354460599955928,0.10355307899953914,0.10356155099907483,0.10357036399909703,0.10357881699928839,0.10358744999939518,0.10362027900009707],"values":[8.523000360582955e-06,8.431999958702363e-06,8.33200101624243e-06,8.45199974719435e-06,3.462199856585357e-05,9.983999916585162e-06,1.028600127028767e-05,8.431999958702363e-06,8.363000233657658e-06,8.553000952815637e-06,8.332999641424976e-06,8.442000762443058e-06,8.402999810641631e-06,8.422999599133618e-06,8.37299921840895e-06,8.422999599133618e-06,8.411998351220973e-06,8.481998520437628e-06,8.402999810641631e-06,8.582999726058915e-06,3.276899951742962e-05],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":8192},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.10375591099909798,0.10376605599958566,0.10377571099888883,0.10378557599869964,0.10379542000009678,0.10380520499893464],"values":[1.0024999937741086e-05,1.0044999726233073e-05,9.534000128041953e-06,9.745001079863869e-06,9.784000212675892e-06,9.665000106906518e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"put"},"run":1,"stop_reason":"time_budget","timestamps_s":[0.10749003399905632,0.10817546599901107,0.10886365299847967,0.1094162179997511,0.11001798599863832,0.11062456099898554,0.11099618599837413,0.11136655799964501,0.11177250399850891,0.11214599099912448,0.1125491829989187,0.11299450799924671,0.11354764299903763,0.11446521200014104,0.11515290899842512,0.11553709199870354,0.11592890700012504,0.11643162699874665,0.11706019499979448,0.11779889699937485,0.11845468599858577,0.11884782199922483,0.11922362299992528,0.11976640299872088,0.12032212199846981,0.12114276699867332,0.1218016799994075,0.1222376109999459,0.12263573499876657,0.12305454999841459,0.12345013999947696,0.12390857399986999,0.1245399469989934,0.12525454299975536,0.12563626199880673,0.12600798699895677,0.12643024699900707,0.1269623509997473,0.12733864299843844,0.12773681699945882,0.12811544199939817,0.12856923899926187,0.12949332799871627,0.1301345849988138,0.1309895009999309,0.13190196299910895,0.13255650899918692,0.13339927699962573,0.13415513499967346,0.13482313199892815,0.13549524500012922,0.13592052899912233,0.13630161799846974,0.13670011300018814,0.1371285919994989,0.13772834699921077,0.13821942999857129,0.1391127229999256,0.1399277489999804,0.1407999409984768,0.14146494299893675,0.14184649199887644,0.14222681999854103,0.14266034699903685,0.14323951099868282,0.14366442499886034,0.1440368209987355,0.14441230099873792,0.1447980369994184,0.1453068959999655,0.14598889399894688,0.14697742899988953,0.14772727799936547,0.14819066999916686,0.14864230399871303,0.1490918639992742,0.14959195099982026,0.15001729499999783,0.15044425199994294,0.1509613239995815,0.1518722330001765,0.15226161399914417,0.15263815599973896,0.15300701699925412,0.15365253999880224,0.15424015699863958,0.15484829399974842,0.1552576849990146,0.155708076999872,0.15634248399874195],"values":[0.0006251929989957716,0.000685021999743185,0.0006875159997434821,0.0005520440008695005,0.0006016580009600148,0.0006055640005797613,0.0003648549991339678,0.00037030200110166334,0.0004058660015289206,0.0003693609996844316,0.0004031209991808282,0.00044524499935505446,0.0005530750004254514,0.0009174890001304448,0.0006831600003351923,0.0003841130001092097,0.00039174499943328556,0.000501979000546271,0.0006284979990596185,0.0007386220004264032,0.00065571899904171,0.00038679700082866475,0.0003757309987122426,0.0005427100004453678,0.0005556489995797165,0.0008205650010495447,0.0006588530013686977,0.0004358509995654458,0.00039806399945518933,0.00041874499947880395,0.0003955100000894163,0.00045837399920856114,0.0006226389996299986,0.0007134950010367902,0.00038164900070114527,0.00037165399953664746,0.0004221799990773434,0.000532044001374743,0.0003762220003409311,0.0003981040008511627,0.00037855499977013096,0.0004537370004982222,0.0009240290000889217,0.0006411869999283226,0.0008548459991288837,0.00091239100038365,0.0006544759999087546,0.0008426980002695927,0.0007440910012519453,0.0006676670000160811,0.0006720429992128629,0.00042521400064288173,0.00038101899917819537,0.00039842499973019585,0.0004284189999452792,0.0005996849995426601,0.0004910030002065469,0.000893232998350868,0.0008149559998855693,0.0008721220001461916,0.0006649419992754702,0.00038148900057421997,0.0003802579994953703,0.00043345700032659806,0.0005790840004920028,0.0004228409998177085,0.00037232600152492523,0.00037540999983320944,0.00038566600051126443,0.0005087889985588845,0.0006819179998274194,0.000988474999758182,0.000736399000743404,0.0004633110002032481,0.000451552999948035,0.0004494900003919611,0.0005000169985578395,0.0004252740000083577,0.0004268869997758884,0.0005169910000404343,0.0009108389986067777,0.00038931100061745383,0.0003764709999813931,0.00036879100116493646,0.0006454529993789038,0.0005875469996681204,0.0006080670009396272,0.0003884190009557642,0.00043225499939580914,0.0006182719989737961],"verified":true,"warmup_dropped":2},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":8},"variant":"am"},"run":1,"stop_reason":"converged","timestamps_s":[0.16066527499970107,0.1606781639984547,0.16069106299983105,0.1607030509985634,0.16071570999883988,0.16075235499920382,0.1607785939995665,0.16079095199893345,0.16080307099946367,0.16081849399961357,0.16083105199868442,0.16084385099929932,0.1608562699984759,0.16086843799894268],"values":[6.469499567174353e-06,6.279499757511076e-06,6.319500243989751e-06,5.943500582361594e-06,6.2945000536274165e-06,1.816199983295519e-05,1.109650020225672e-05,6.144000508356839e-06,6.0289994507911615e-06,6.364500222844072e-06,6.249000762181822e-06,6.374500117090065e-06,6.17949990555644e-06,6.0540005506481975e-06],"verified":true,"warmup_dropped":3},{"note":"not measured: active messages carry at most 8184 B on this fabric, not 4194304 B","point":{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":524288},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.16128907599886588,0.1613361959989561,0.1613827860001038,0.1614309479991789,0.16147852899848658,0.16152605899878836],"values":[4.7872001232462935e-05,4.676000025938265e-05,4.6299999667098746e-05,4.780100061907433e-05,4.751000051328447e-05,4.7280000217142515e-05],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":512},"variant":"am"},"run":1,"stop_reason":"converged","timestamps_s":[0.16213252399938938,0.16214514300008886,0.16215753199867322,0.16216949999943608,0.16218194799876073,0.1621952279983816],"values":[6.33449963061139e-06,6.2039998738327995e-06,6.0840002333861776e-06,5.928999598836526e-06,6.193999979586806e-06,6.399500307452399e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":131072},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.16237048999937542,0.16238999899906048,0.1624099379987456,0.16243024899995362,0.16245048899872927,0.16247059899978922],"values":[1.9168001017533243e-05,1.939899993885774e-05,1.9799001165665686e-05,2.0199999198666774e-05,2.018000122916419e-05,1.933900057338178e-05],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":32},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.1627189599985286,0.162727481998445,0.16273601499960932,0.16274449799857393,0.1627530099995056,0.16276165299859713],"values":[8.353001248906367e-06,8.422000973951072e-06,8.402999810641631e-06,8.39300082589034e-06,8.441998943453655e-06,8.462000550935045e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":512},"variant":"put"},"run":1,"stop_reason":"converged","timestamps_s":[0.16289461199994548,0.16290328499962925,0.16291185699992639,0.16292050999982166,0.16292916299971694,0.16293807699912577],"values":[8.59300052979961e-06,8.602999514550902e-06,8.482000339427032e-06,8.573000741307624e-06,8.582999726058915e-06,8.78300124895759e-06],"verified":true,"warmup_dropped":3},{"note":"not measured: active messages carry at most 8184 B on this fabric, not 32768 B","point":{"experiment":"micro.latency","params":{"bytes":32768},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"not measured: active messages carry at most 8184 B on this fabric, not 131072 B","point":{"experiment":"micro.latency","params":{"bytes":131072},"variant":"am"},"run":1,"stop_reason":"max_reps","timestamps_s":[],"values":[],"verified":false,"warmup_dropped":0},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":32},"variant":"am"},"run":1,"stop_reason":"converged","timestamps_s":[0.16306947299926833,0.1630818609992275,0.16309938699851045,0.1631117759989138,0.1631242139992537,0.16313678299957246,0.16315039299843193,0.16316264199849684,0.16317418899961922],"values":[5.9839994719368406e-06,6.143999598862138e-06,8.703000276000239e-06,6.14950022281846e-06,6.184000085340813e-06,6.229500286281109e-06,6.07899983151583e-06,6.094500349718146e-06,5.743499968957622e-06],"verified":true,"warmup_dropped":3},{"note":"","point":{"experiment":"micro.latency","params":{"bytes":8},"variant":"get"},"run":1,"stop_reason":"converged","timestamps_s":[0.1632659059996513,0.16327440799977921,0.16328296099891304,0.16329148399927362,0.16329994699844974,0.16330871999889496],"values":[8.532999345334247e-06,8.431999958702363e-06,8.482000339427032e-06,8.422999599133618e-06,8.381999577977695e-06,8.633000106783584e-06],"verified":true,"warmup_dropped":3}]');
INSERT INTO "payloads" VALUES(2,'[]');
CREATE TABLE plans (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  assignment TEXT NOT NULL,    -- JSON object
  PRIMARY KEY (campaign, run),
  FOREIGN KEY (campaign, run) REFERENCES runs (campaign, run)
) STRICT;
INSERT INTO "plans" VALUES(1,1,'{"clock":"real","deadline_s":60.0,"fabric":"tcp","fence":0,"model_json":"","name":"campaigns/c1/runs/1","points":[{"experiment":"micro.latency","params":{"bytes":524288},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":32},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":524288},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":32},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":8},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":32768},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":8},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":128},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":524288},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":2048},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":2048},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":128},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":131072},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":131072},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":32},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":512},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":8192},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":512},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":8},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":2097152},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":128},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":4194304},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":32768},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":512},"variant":"get"},{"experiment":"micro.latency","params":{"bytes":131072},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":2048},"variant":"am"},{"experiment":"micro.latency","params":{"bytes":8192},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":32768},"variant":"put"},{"experiment":"micro.latency","params":{"bytes":8192},"variant":"get"}],"ranks":2,"run":1,"seed":627405149472732430,"stop_rule":{"confidence":0.95,"max_reps":100,"min_reps":6,"min_runs":1,"relative_half_width":0.05,"time_budget_s":0.05}}');
CREATE TABLE runs (
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  run INTEGER NOT NULL,
  state TEXT NOT NULL,
  fence INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  rank_nodes TEXT NOT NULL,    -- JSON array
  points_done INTEGER NOT NULL,
  points_total INTEGER NOT NULL,
  points_core INTEGER NOT NULL,
  points_all INTEGER NOT NULL,
  duration_s REAL NOT NULL,
  message TEXT NOT NULL, points_least INTEGER NOT NULL DEFAULT 0, start_s REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign, run)
) STRICT, WITHOUT ROWID;
INSERT INTO "runs" VALUES(1,1,'FINISHED',1,0,'["a","b"]',33,33,33,33,1.06078038099985860753e+00,'',33,0.0);
INSERT INTO "runs" VALUES(2,1,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,0.716186416999335,'',64,0.0);
INSERT INTO "runs" VALUES(2,2,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,7.13876665000498178415e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,3,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,7.081390580005972879e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,4,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,7.33522817999983089976e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,5,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,6.79930969999986700713e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,6,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,6.96422944998630555346e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,7,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,7.00957962000757106579e-01,'',64,0.0);
INSERT INTO "runs" VALUES(2,8,'FINISHED',1,0,'["a","b"]',64,64,1396,1565,7.10541693999402923509e-01,'',64,0.0);
CREATE TABLE tokens (
  secret_sha256 TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  subject TEXT NOT NULL,
  created REAL NOT NULL,
  expires REAL NOT NULL,
  ended REAL NOT NULL,         -- revoked or used up; 0: neither
  used_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "tokens" VALUES('0000000000000000000000000000000000000000000000000000000000000000','viewer','alice',1.0,2.0,0.0,'');
CREATE TABLE version_marks (
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  mark TEXT NOT NULL,          -- 'provisional' or 'withdrawn'
  reason TEXT NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (model, version, mark),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX campaigns_by_request ON campaigns (request_id) WHERE request_id <> '';
CREATE INDEX campaigns_by_state ON campaigns (state);
CREATE INDEX batches_by_campaign ON batches (campaign, id);
CREATE INDEX events_by_campaign ON events (campaign, cursor);
CREATE TRIGGER model_versions_are_immutable BEFORE UPDATE ON model_versions
BEGIN SELECT RAISE(ABORT, 'model versions are immutable'); END;
CREATE TRIGGER fingerprints_are_immutable BEFORE UPDATE ON fingerprints
BEGIN SELECT RAISE(ABORT, 'fingerprints are immutable'); END;
CREATE TRIGGER campaigns_are_counted AFTER INSERT ON campaigns BEGIN
  UPDATE meta SET value = CAST(max(CAST(value AS INTEGER), NEW.number) AS TEXT)
  WHERE key = 'last_campaign';
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',38);
INSERT INTO "sqlite_sequence" VALUES('batches',15);
INSERT INTO "sqlite_sequence" VALUES('audit',1);
COMMIT;
