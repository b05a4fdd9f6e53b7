// SPDX-License-Identifier: BSL-1.0
// The states that the buttons of the page show.
'use strict';

const pod = {mesh: 'data=2,model=4', shape: '8x16'};
const examples = {
  'rows': {...pod, sharding: 'data,-'},
  'columns': {...pod, sharding: '-,model'},
  'both': {...pod, sharding: 'data,model'},
  'two axes, one dimension': {...pod, sharding: 'model+data,-'},
  'JAX': {...pod, sharding: "P(None, ('data', 'model'))"},
  'DTensor, uneven': {mesh: 'dp=2,tp=2', shape: '5x6', sharding: 'S(0) S(0)'},
  'HLO': {shape: '8x16', sharding: '{devices=[2,2,2]<=[8] last_tile_dim_replicate}'},
  'Shardy': {...pod, sharding: '#sdy.sharding<@mesh, [{"model"}, {"data"}]>'},
  'block-cyclic': {mesh: 'x=2,y=2', shape: '12x12', sharding: 'x%2,y%3'},
  'a mistake': {...pod, sharding: 'data,modle'},
  'a reshard': {...pod, sharding: 'data,-', to: '-,model'},
  'a pending sum': {mesh: pod.mesh, sharding: 'f32[8@data, 16]{partial sum: model}',
    to: 'data,model'},
  'a split softmax': {mesh: pod.mesh, ops: 'p = softmax dim=1 f32[8@data, 16@model]'},
  'two slices of chips': {mesh: 'data=8,model=4', shape: '64x64', sharding: 'data,model',
    physical: '4x4x1', ici: '4x4', dcn: '2x1', names: 'data,model'},
  'a Megatron block': {mesh: pod.mesh, ops: `x = f32[8@data, 64]
h = einsum equation=bi,io->bo x f32[64, 256@model]
a = gelu h
y = einsum equation=bo,oi->bi a f32[256@model, 64] out=f32[8@data, 64]
z = add x y`},
};
