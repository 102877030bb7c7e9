_base_ = ['mmdet::_base_/models/faster-rcnn_r50_fpn.py', 'mmdet::_base_/default_runtime.py']

data_root = '/data/sar/'
train_dataloader = dict(
    batch_size=4,
    num_workers=4,
    dataset=dict(type='CocoDataset', data_root=data_root, ann_file='train.json'),
)
train_cfg = dict(type='EpochBasedTrainLoop', max_epochs=24, val_interval=2)
optim_wrapper = dict(type='OptimWrapper', optimizer=dict(type='SGD', lr=0.02, momentum=0.9))
default_hooks = dict(checkpoint=dict(type='CheckpointHook', interval=1))
